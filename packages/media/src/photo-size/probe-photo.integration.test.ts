import { CountedSource } from '@echodrop/testkit/counted-source';
import { animatedWebp } from '@echodrop/testkit/samples/sample-animation';
import { bitmap } from '@echodrop/testkit/samples/sample-bmp';
import { directory, entry, exif, jpegWithExif, segment } from '@echodrop/testkit/samples/sample-exif';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { ftyp, heifHeader, isoBox } from '@echodrop/testkit/samples/sample-iso';
import { made, samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { pngChunk, pngWithChunks } from '@echodrop/testkit/samples/sample-png';
import { tiff } from '@echodrop/testkit/samples/sample-tiff';
import { asPictureSequence } from '@echodrop/testkit/samples/sample-video-edits';
import { describe, expect, test } from 'vitest';
import { probed } from '../probed.fixture.ts';
import { cpuSeconds } from '../sandbox/cpu-seconds.fixture.ts';
import { canvas, turned } from './known-photos.fixture.ts';

const photo = (type: string, width: number, height: number) => ({
  outcome: 'media',
  kind: 'photo',
  type,
  width,
  height,
});

const large = { width: 1200, height: 900 };
const heic = { coding: 'hevc', brands: ['heic', 'mif1'], width: 900, height: 600, noise: true } as const;
const tinyAnimation = {
  canvas: { width: 60, height: 40 },
  frameSize: { width: 6, height: 4 },
  frames: 2,
  exif: exif({}),
};

async function webpAnimation(frames: number): Promise<Buffer> {
  const frameSize = { width: 90, height: 60 };
  const frame = await canvas(90, 60).webp().toBuffer();
  return animatedWebp({ canvas: large, frame, frameSize, frames, exif: exif({ orientation: 6 }) });
}

describe('reads are few', () => {
  test.each([
    ['a JPEG', 0, () => canvas(700, 500).jpeg().toBuffer()],
    [
      'a JPEG with 60 KiB of EXIF',
      1,
      async () => jpegWithExif(await canvas(700, 500).jpeg().toBuffer(), { padding: 60 * 1024 }),
    ],
    ['a PNG, because EXIF may follow its pixels', 1, () => canvas(900, 600).png().toBuffer()],
    ['a PNG with EXIF before its pixels', 0, () => turned(6, 900, 600).png().toBuffer()],
    ['a GIF', 0, () => canvas(500, 400).gif({ effort: 1 }).toBuffer()],
    ['a WebP', 0, () => canvas(900, 600).webp().toBuffer()],
    ['a WebP with EXIF after its pixels', 1, () => turned(6, 900, 600).webp().toBuffer()],
    ['an animated WebP with EXIF after 200 frames', 1, () => webpAnimation(200)],
    ['a HEIC with EXIF after its pixels', 1, () => heif({ ...heic, orientation: 6 })],
    ['a HEIC whose directory is at its end', 1, () => heif({ ...heic, directoryLast: true })],
    ['a HEIC whose directory and EXIF are at its end', 2, () => heif({ ...heic, directoryLast: true, orientation: 6 })],
    ['an AVIF', 0, () => canvas(900, 600).avif({ effort: 0 }).toBuffer()],
    ['a TIFF whose directory is at its end', 1, () => canvas(900, 600).tiff().toBuffer()],
    ['a TIFF whose directory is at its beginning', 0, () => tiff({ ...large, order: 'LE', directory: 'first' })],
    ['a TIFF whose first page of three is in its middle', 1, () => tiff({ ...large, order: 'BE', pages: 3 })],
    ['a BMP', 0, () => bitmap({ ...large, header: 40 })],
  ])('%s takes %i, of at most 64 KiB', async (_, reads, bytes) => {
    const source = new CountedSource(await bytes());
    expect(source.size).toBeGreaterThan(100 * 1024);
    expect(await probed(source)).toMatchObject({ outcome: 'media' });
    expect(source.reads).toBe(reads);
    expect(source.longestRead).toBeLessThanOrEqual(64 * 1024);
  });

  test('of a TIFF of 1 GiB whose directory is at its end', async () => {
    const gibi = 1024 ** 3;
    const whole = tiff({ width: 1200, height: 900, order: 'LE', orientation: 6 });
    const directoryAt = whole.readUInt32LE(4);
    const head = Buffer.from(whole.subarray(0, directoryAt));
    head.writeUInt32LE(directoryAt + gibi, 4);
    const source = new CountedSource(head, { zeros: gibi, tail: whole.subarray(directoryAt) });
    expect(await probed(source)).toEqual(photo('tiff', 900, 1200));
    expect([source.reads, source.bytesRead]).toEqual([1, whole.length - directoryAt]);
  });

  test.each([
    ['a megabyte', 16, photo('jpg', 900, 600), 6],
    ['seven megabytes', 113, photo('jpg', 900, 600), 8],
    ['13 megabytes', 200, { outcome: 'unsupported', why: 'too_costly' }, 8],
  ])('%s of metadata before the frame header: in doubling steps, and at most eight megabytes', async (...row) => {
    const [, segments, found, reads] = row;
    const jpeg = await canvas(900, 600).jpeg().toBuffer();
    const notes = Array.from({ length: segments }, () => segment(0xe5, Buffer.alloc(65_000)));
    const source = new CountedSource(Buffer.concat([jpeg.subarray(0, 2), ...notes, jpeg.subarray(2)]));
    expect(await probed(source)).toEqual(found);
    expect(source.reads).toBeLessThanOrEqual(reads);
    expect(source.bytesRead).toBeLessThanOrEqual(8 * 1024 * 1024);
  });
});

describe('rejected photos', () => {
  test('a canvas larger than MAX_PIXELS', async () => {
    const png = await samplePhoto('png', { width: 200, height: 100 });
    expect(await probed(png, { maxPixels: 20_000 })).toMatchObject({ outcome: 'media' });
    expect(await probed(png, { maxPixels: 19_999 })).toEqual({ outcome: 'unsupported', why: 'too_many_pixels' });
  });

  test.each<[string, string, () => Promise<Buffer> | Buffer]>([
    ['a JPEG of three bytes', 'broken', () => Buffer.from([0xff, 0xd8, 0xff])],
    ['a JPEG without a frame', 'broken', () => Buffer.from('\xff\xd8\xff\xfe\0\x10nothing that is\xff\xd9', 'latin1')],
    ['a GIF of six bytes', 'broken', () => Buffer.from('GIF89a')],
    [
      'a bitmap of two bits per pixel, which few programs support',
      'codec',
      () => {
        const bytes = bitmap({ width: 65, height: 46, header: 40 });
        bytes.writeUInt16LE(2, 28);
        return bytes;
      },
    ],
    ['a GIF without width', 'broken', () => Buffer.from('GIF89a\0\0\x01\0\0\0\0;', 'latin1')],
    ['a truncated WebP', 'broken', async () => (await canvas(900, 600).webp().toBuffer()).subarray(0, 30_000)],
    ['a truncated BMP', 'broken', async () => (await samplePhoto('bmp', { width: 64, height: 48 })).subarray(0, 5000)],
    ['a truncated TIFF', 'broken', async () => (await canvas(900, 600).tiff().toBuffer()).subarray(0, 100_000)],
    ['an AVIF of a few bytes', 'broken', () => heifHeader('avif', { width: 9, height: 9 }).subarray(0, 60)],
    [
      'a BMP with a negative size',
      'broken',
      () => Buffer.from('BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\xff\xff\xff\xff\x01\0\0\0\x01\0\x18\0\0\0\0\0', 'latin1'),
    ],
    [
      'a bitmap of 16 bits with alpha',
      'codec',
      () => {
        const bytes = bitmap({ width: 65, height: 46, header: 56 });
        bytes.writeUInt16LE(16, 28);
        bytes.writeUInt32LE(3, 30);
        bytes.writeUInt32LE(0x8000, 66);
        return bytes;
      },
    ],
    ['an AVIF sequence whose alpha is a track', 'codec', async () => sequenceWithAlpha()],
    ['a DNG', 'unknown_type', () => tiffWith([50706, 1, 4, 0x0401])],
    ['a raw photo below a preview', 'unknown_type', () => tiffWith([254, 4, 1, 1], [330, 4, 1, 0])],
  ])('%s', async (_, why, bytes) => {
    expect(await probed(await bytes())).toEqual({ outcome: 'unsupported', why });
  });

  test('probes any truncated photo and any photo with a corrupt header without failing', async () => {
    const photos = [
      await turned(6, 64, 48).jpeg().toBuffer(),
      pngWithChunks(await canvas(6, 4).png().toBuffer(), 'last', pngChunk('eXIf', exif({ orientation: 6 }))),
      animatedWebp({ ...tinyAnimation, frame: await canvas(6, 4).webp().toBuffer() }),
      tiff({ width: 6, height: 4, order: 'BE', big: true }),
      await heif({ ...heic, width: 60, height: 40, orientation: 6, tiles: { columns: 2, rows: 1 } }),
      await turned(6, 64, 48).webp().toBuffer(),
      await turned(6, 64, 48).tiff().toBuffer(),
      await turned(6, 64, 48).avif({ effort: 0 }).toBuffer(),
      heifHeader('heic', { width: 64, height: 48 }),
      await samplePhoto('bmp', { width: 6, height: 4 }),
    ];
    for (const bytes of photos) {
      for (let at = 0; at < Math.min(bytes.length, 600); at++) {
        await probed(bytes.subarray(0, at));
        await probed(Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 1)]));
      }
    }
  });
});

test('spends no time on a directory that claims more entries than it has', async () => {
  const count = Buffer.alloc(4, 0xff);
  const zeros = Buffer.alloc(900 * 1024);
  // Items with 65,535 extents of no bytes each.
  const extents = Buffer.alloc(900 * 1024, Buffer.from([0, 7, 0, 0, 0xff, 0xff]));
  const places = isoBox('iloc', Buffer.from([0, 0, 0, 0, 0, 0]), count.subarray(2), extents);
  const notes = [
    isoBox(
      'iinf',
      Buffer.from([0, 0, 0, 0, 0, 1]),
      isoBox('infe', Buffer.from([2, 0, 0, 0, 0, 9, 0, 0]), Buffer.from('Exif\0')),
    ),
    isoBox('iref', Buffer.alloc(4), isoBox('cdsc', Buffer.from([0, 9, 0, 1, 0, 2]))),
  ];
  const primary = Buffer.from([0, 0, 0, 0, 0, 2]);
  const extent = Buffer.from([0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9]);
  const associations = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 1, 1]);
  const properties = isoBox('iprp', isoBox('ipco', isoBox('ispe', extent)), isoBox('ipma', associations));
  const hostile = [
    [isoBox('pitm', primary), properties, ...notes, places],
    [isoBox('pitm', primary), isoBox('iprp', isoBox('ipco', zeros), isoBox('ipma', Buffer.alloc(4), count, zeros))],
    [isoBox('pitm', primary), properties, isoBox('iref', Buffer.alloc(4), isoBox('cdsc', zeros))],
  ];
  for (const boxes of hostile) {
    const before = cpuSeconds();
    await probed(Buffer.concat([ftyp('heic'), isoBox('meta', Buffer.alloc(4), ...boxes)]));
    expect(cpuSeconds() - before).toBeLessThan(1);
  }
});

test('refuses types that are turned off without a read', async () => {
  const source = new CountedSource(await canvas(900, 600).tiff().toBuffer());
  const off = { outcome: 'unsupported', why: 'type_off' };
  expect(await probed(source, { typesOff: new Set(['heic', 'tiff']) })).toEqual(off);
  expect(source.reads).toBe(0);
  expect(await probed(source, { typesOff: new Set(['heic']) })).toMatchObject({ type: 'tiff' });
});

test('ignores a TIFF entry whose value does not fit, even if its count is zero', async () => {
  expect(await probed(tiffWith([274, 16, 0, 6]))).toMatchObject({ type: 'tiff', width: 64, height: 48 });
});

test('rejects if a read fails', async () => {
  const source = new CountedSource(await canvas(900, 600).tiff().toBuffer());
  source.read = () => Promise.reject(new Error('the store is down'));
  await expect(probed(source)).rejects.toThrow('the store is down');
});

// A directory with a size of 64 x 48 and these entries: tag, type, count, value.
function tiffWith(...entries: readonly (readonly [number, number, number, number])[]): Buffer {
  const all = [[256, 4, 1, 64] as const, [257, 4, 1, 48] as const, ...entries];
  return Buffer.concat([Buffer.from('II*\0\x08\0\0\0', 'latin1'), directory(all.map((each) => entry(...each)))]);
}

/** A picture sequence of two tracks, whose second one is auxiliary (ISO/IEC 23008-12 section 7.5.3). */
async function sequenceWithAlpha(): Promise<Buffer> {
  const moving = ['-f', 'lavfi', '-i', 'testsrc2=size=64x48:rate=5:duration=1', '-map', '0', '-map', '0'];
  const video = await made([...moving, '-c:v', 'libaom-av1', '-cpu-used', '8', '-f', 'mp4']);
  const sequence = asPictureSequence(video, 'avis', 'avif');
  sequence.write('auxv', sequence.indexOf('vide', sequence.indexOf('pict')), 'latin1');
  return sequence;
}
