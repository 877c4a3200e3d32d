import { entry, exif, jpegWithExif, segment } from '@echodrop/testkit/samples/sample-exif';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { probed } from '../probed.fixture.ts';
import { canvas } from './known-photos.fixture.ts';

async function bySharp(bytes: Buffer): Promise<string> {
  const options = { failOn: 'none', limitInputPixels: false } as const;
  try {
    const { autoOrient } = await sharp(bytes, options).metadata();
    return `${autoOrient.width}x${autoOrient.height}`;
  } catch {
    return 'broken';
  }
}

async function byProbe(bytes: Buffer): Promise<string> {
  const probe = await probed(bytes, { maxPixels: Number.POSITIVE_INFINITY });
  return probe.outcome === 'media' ? `${probe.width}x${probe.height}` : probe.why;
}

const turned = (orientation: number) => segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), exif({ orientation })]));

const plain = () => canvas(40, 30).jpeg().toBuffer();
const inserted = (bytes: Buffer, at: number, ...parts: Buffer[]) =>
  Buffer.concat([bytes.subarray(0, at), ...parts, bytes.subarray(at)]);
const after = async (at: number, ...parts: Buffer[]) => inserted(await plain(), at, ...parts);
// Sizes of Huffman tables, and so this offset, depend on the random noise.
const scanOf = (bytes: Buffer) => bytes.indexOf(Buffer.from([0xff, 0xda]));
const beforeScan = async (...parts: Buffer[]) => {
  const bytes = await plain();
  return inserted(bytes, scanOf(bytes), ...parts);
};

const frame = (precision: number, height: number) => Buffer.from([precision, 0, height, 0, 9, 1, 1, 0x11, 0]);
const framed = async (marker: number, content: Buffer) =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(marker, content),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0, 0xff, 0xd9]),
  ]);
const framesToTry = Array.from({ length: 16 }, (_, n) =>
  [2, 8, 12, 16].map((bits) => [0xc0 + n, bits] as const),
).flat();

// A directory that declares this number of entries: tag, type, count, value.
function exifOf(declared: number, ...entries: readonly [number, number, number, number][]): Buffer {
  const head = Buffer.from('Exif\0\0II*\0\x08\0\0\0\0\0', 'latin1');
  head.writeUInt16LE(declared, head.length - 2);
  const written = entries.map((each) => entry(...each));
  return segment(0xe1, Buffer.concat([head, ...written, Buffer.alloc(declared > entries.length ? 0 : 4)]));
}

test.each<[string, () => Promise<Buffer>]>([
  ['baseline', plain],
  ['progressive', () => canvas(41, 30).jpeg({ progressive: true }).toBuffer()],
  ['grey', () => canvas(42, 30).greyscale().jpeg().toBuffer()],
  ['CMYK', () => canvas(43, 30).toColourspace('cmyk').jpeg().toBuffer()],
  ['4:4:4', () => canvas(44, 30).jpeg({ chromaSubsampling: '4:4:4' }).toBuffer()],
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((n): [string, () => Promise<Buffer>] => [
    `orientation ${n}`,
    () => canvas(50, 30).withMetadata({ orientation: n }).jpeg().toBuffer(),
  ]),
  ['orientation 0', () => after(2, turned(0))],
  ['orientation 9', () => after(2, turned(9))],
  ['large EXIF', async () => jpegWithExif(await plain(), { orientation: 6, padding: 60_000 })],
  ['two EXIF segments', () => after(2, turned(6), turned(1))],
  ['two EXIF segments in reverse order', () => after(2, turned(1), turned(6))],
  ['EXIF right before its pixels', () => beforeScan(turned(8))],
  ['EXIF that says it has more entries than it has', () => after(2, exifOf(9, [274, 3, 1, 6]))],
  ['EXIF that gives its orientation twice', () => after(2, exifOf(2, [274, 3, 1, 6], [274, 3, 1, 1]))],
  ['EXIF that gives its orientation twice, upright first', () => after(2, exifOf(2, [274, 3, 1, 1], [274, 3, 1, 6]))],
  ['EXIF whose orientation has no value', () => after(2, exifOf(1, [274, 3, 0, 6]))],
  ['EXIF without a directory', () => after(2, segment(0xe1, Buffer.from('Exif\0\0')))],
  [
    'garbage between segments',
    () => after(20, Buffer.from([1, 2, 0xff, 0, 3, 0xff, 0xff, 0xff]), segment(0xfe, Buffer.from('x'))),
  ],
  ['a restart marker before its frame', () => after(2, Buffer.from([0xff, 0xd3]))],
  ['a second beginning', () => after(2, Buffer.from([0xff, 0xd8]))],
  ['an end before its frame', () => after(2, Buffer.from([0xff, 0xd9]))],
  ['a segment of one byte', () => after(2, Buffer.from([0xff, 0xe5, 0, 1]))],
  ['two frames', () => beforeScan(segment(0xc0, frame(8, 9)))],
  ['a frame without height', () => framed(0xc0, frame(8, 0))],
  ...framesToTry.map(([marker, precision]): [string, () => Promise<Buffer>] => [
    `frame ${marker.toString(16)} of ${precision} bits`,
    () => framed(marker, frame(precision, 9)),
  ]),
  [
    'no pixels',
    async () => {
      const bytes = await plain();
      return bytes.subarray(0, scanOf(bytes));
    },
  ],
  ['an end within its frame', async () => (await plain()).subarray(0, 170)],
  ['pixels cut off', async () => (await plain()).subarray(0, -200)],
])('finds the same size as sharp for a JPEG, %s', async (_, make) => {
  const bytes = await make();
  expect(await byProbe(bytes)).toBe(await bySharp(bytes));
});

test('agrees with sharp on a JPEG whose header is damaged anywhere', async () => {
  const photo = await canvas(40, 30).jpeg().toBuffer();
  const differing: string[] = [];
  for (let at = 3; at < scanOf(photo) + 14; at += 1) {
    for (const value of [0, 0xff, 0x7f]) {
      const bytes = Buffer.from(photo);
      bytes[at] = value;
      const ours = await byProbe(bytes);
      const theirs = await bySharp(bytes);
      if (ours !== theirs) differing.push(`${at} ${value} ${ours} ${theirs}`);
    }
  }
  expect(differing).toEqual([]);
});
