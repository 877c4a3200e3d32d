import { tmpdir } from 'node:os';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { jpegWithExif, segment } from '@echodrop/testkit/sample-exif';
import { heifHeader } from '@echodrop/testkit/sample-iso';
import { samplePhoto } from '@echodrop/testkit/sample-media';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { probeMedia } from './probe.ts';

const look = (source: CountedSource, maxPixels = 100_000_000) =>
  probeMedia(source, { scratchDir: tmpdir(), maxPixels, signal: AbortSignal.timeout(10_000) });
const probe = (bytes: Buffer) => look(new CountedSource(bytes));
const photo = (type: string, width: number, height: number) => ({
  outcome: 'media',
  kind: 'photo',
  type,
  width,
  height,
});

const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const canvas = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#000', noise } });
const turned = (width: number, height: number, orientation: number) =>
  canvas(width, height).withMetadata({ orientation });

describe('every type of photo tells its displayed size', () => {
  test.each<[string, ReturnType<typeof photo>, () => Promise<Buffer> | Buffer]>([
    ['JPEG', photo('jpg', 64, 48), () => samplePhoto('jpg', { width: 64, height: 48 })],
    ['JPEG, progressive', photo('jpg', 900, 600), () => canvas(900, 600).jpeg({ progressive: true }).toBuffer()],
    ['JPEG in CMYK', photo('jpg', 64, 48), () => canvas(64, 48).toColourspace('cmyk').jpeg().toBuffer()],
    ['JPEG in grey', photo('jpg', 64, 48), () => canvas(64, 48).greyscale().jpeg().toBuffer()],
    ['PNG', photo('png', 64, 48), () => samplePhoto('png', { width: 64, height: 48 })],
    [
      'PNG of 16 bits',
      photo('png', 64, 48),
      () => samplePhoto('png', { width: 64, height: 48, options: ['-pix_fmt', 'rgb48be'] }),
    ],
    ['PNG on its side', photo('png', 600, 900), () => turned(900, 600, 6).png().toBuffer()],
    ['GIF', photo('gif', 64, 48), () => samplePhoto('gif', { width: 64, height: 48 })],
    ['GIF with a small frame on a large screen', photo('gif', 500, 400), () => smallFrame(500, 400)],
    ['WebP', photo('webp', 64, 48), () => samplePhoto('webp', { width: 64, height: 48 })],
    ['WebP without loss', photo('webp', 64, 48), () => canvas(64, 48).webp({ lossless: true }).toBuffer()],
    ['WebP on its side', photo('webp', 600, 900), () => turned(900, 600, 8).webp().toBuffer()],
    ['WebP upside down', photo('webp', 900, 600), () => turned(900, 600, 3).webp().toBuffer()],
    ['AVIF', photo('avif', 64, 48), () => samplePhoto('avif', { width: 64, height: 48 })],
    ['AVIF on its side', photo('avif', 120, 200), () => turned(200, 120, 6).avif({ effort: 0 }).toBuffer()],
    ['HEIC', photo('heic', 4032, 3024), () => heifHeader('heic', { width: 4032, height: 3024 })],
    [
      'HEIC on its side',
      photo('heic', 3024, 4032),
      () => heifHeader('heic', { width: 4032, height: 3024, quarterTurns: 3 }),
    ],
    [
      'HEIC upside down',
      photo('heic', 4032, 3024),
      () => heifHeader('heic', { width: 4032, height: 3024, quarterTurns: 2 }),
    ],
    ['TIFF', photo('tiff', 64, 48), () => samplePhoto('tiff', { width: 64, height: 48 })],
    ['TIFF, directory at the end, on its side', photo('tiff', 600, 900), () => turned(900, 600, 5).tiff().toBuffer()],
    ['BigTIFF', photo('tiff', 900, 600), () => canvas(900, 600).tiff({ bigtiff: true }).toBuffer()],
    ['BMP', photo('bmp', 66, 46), () => samplePhoto('bmp', { width: 66, height: 46 })],
  ])('%s', async (_, expected, bytes) => {
    expect(await probe(await bytes())).toEqual(expected);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('JPEG in EXIF orientation %i', async (orientation) => {
    const onItsSide = orientation > 4;
    const bytes = jpegWithExif(await samplePhoto('jpg', { width: 64, height: 48 }), { orientation });
    expect(await probe(bytes)).toEqual(photo('jpg', onItsSide ? 48 : 64, onItsSide ? 64 : 48));
  });
});

describe('reads are few', () => {
  test.each([
    ['a JPEG', 0, () => canvas(2000, 1500).jpeg().toBuffer()],
    [
      'a JPEG with 60 KiB of EXIF',
      1,
      async () => jpegWithExif(await canvas(2000, 1500).jpeg().toBuffer(), { padding: 60 * 1024 }),
    ],
    ['a PNG', 0, () => canvas(900, 600).png().toBuffer()],
    ['a GIF', 0, () => canvas(900, 600).gif().toBuffer()],
    ['a WebP', 0, () => canvas(900, 600).webp().toBuffer()],
    ['a WebP with EXIF behind its pixels', 1, () => turned(2000, 1500, 6).webp().toBuffer()],
    ['an AVIF', 0, () => canvas(900, 600).avif({ effort: 0 }).toBuffer()],
    ['a TIFF whose directory is at its end', 1, () => canvas(900, 600).tiff().toBuffer()],
  ])('%s takes %i, of at most 64 KiB', async (_, reads, bytes) => {
    const source = new CountedSource(await bytes());
    expect(source.size).toBeGreaterThan(100 * 1024);
    expect(await look(source)).toMatchObject({ outcome: 'media' });
    expect(source.reads).toBe(reads);
    expect(source.longestRead).toBeLessThanOrEqual(64 * 1024);
  });

  test('a megabyte of notes before the frame header is read in doubling steps', async () => {
    const jpeg = await canvas(900, 600).jpeg().toBuffer();
    const notes = Array.from({ length: 16 }, () => segment(0xe5, Buffer.alloc(65_000)));
    const source = new CountedSource(Buffer.concat([jpeg.subarray(0, 2), ...notes, jpeg.subarray(2)]));
    expect(await look(source)).toEqual(photo('jpg', 900, 600));
    expect(source.reads).toBeLessThanOrEqual(6);
  });

  test('notes without end are given up', async () => {
    const jpeg = await canvas(900, 600).jpeg().toBuffer();
    const notes = Array.from({ length: 200 }, () => segment(0xe5, Buffer.alloc(65_000)));
    const source = new CountedSource(Buffer.concat([jpeg.subarray(0, 2), ...notes, jpeg.subarray(2)]));
    expect(await look(source)).toEqual({ outcome: 'unsupported', why: 'too_costly' });
    expect(source.bytesRead).toBeLessThan(8 * 1024 * 1024);
  });
});

describe('what is no photo of ours', () => {
  test('a canvas larger than MAX_PIXELS', async () => {
    const png = await samplePhoto('png', { width: 200, height: 100 });
    expect(await look(new CountedSource(png), 20_000)).toMatchObject({ outcome: 'media' });
    expect(await look(new CountedSource(png), 19_999)).toEqual({ outcome: 'unsupported', why: 'too_many_pixels' });
  });

  test.each<[string, string, () => Promise<Buffer> | Buffer]>([
    ['a JPEG of three bytes', 'broken', () => Buffer.from([0xff, 0xd8, 0xff])],
    ['a JPEG without a frame', 'broken', () => Buffer.from('\xff\xd8\xff\xfe\0\x10nothing that is\xff\xd9', 'latin1')],
    ['a GIF of six bytes', 'broken', () => Buffer.from('GIF89a')],
    ['a GIF without width', 'broken', () => Buffer.from('GIF89a\0\0\x01\0\0\0\0;', 'latin1')],
    ['a WebP that was cut off', 'broken', async () => (await canvas(900, 600).webp().toBuffer()).subarray(0, 30_000)],
    [
      'a BMP that was cut off',
      'broken',
      async () => (await samplePhoto('bmp', { width: 64, height: 48 })).subarray(0, 5000),
    ],
    ['a TIFF that was cut off', 'broken', async () => (await canvas(900, 600).tiff().toBuffer()).subarray(0, 100_000)],
    ['an AVIF of a few bytes', 'broken', () => heifHeader('avif', { width: 9, height: 9 }).subarray(0, 60)],
    [
      'a BMP with a size below zero',
      'broken',
      () => Buffer.from('BM\0\0\0\0\0\0\0\0\0\0\0\0\x28\0\0\0\xff\xff\xff\xff\x01\0\0\0\x01\0\x18\0\0\0\0\0', 'latin1'),
    ],
    ['a DNG', 'unknown_type', () => tiffWith([50706, 1, 4, 0x0401])],
    ['a raw photo below a preview', 'unknown_type', () => tiffWith([254, 4, 1, 1], [330, 4, 1, 0])],
  ])('%s', async (_, why, bytes) => {
    expect(await probe(await bytes())).toEqual({ outcome: 'unsupported', why });
  });

  test('any photo that is cut anywhere, or says nonsense anywhere in its header, has a clean answer', async () => {
    const photos = [
      await turned(64, 48, 6).jpeg().toBuffer(),
      await turned(64, 48, 6).webp().toBuffer(),
      await turned(64, 48, 6).tiff().toBuffer(),
      await turned(64, 48, 6).avif({ effort: 0 }).toBuffer(),
      heifHeader('heic', { width: 64, height: 48 }),
      await samplePhoto('bmp', { width: 6, height: 4 }),
    ];
    for (const bytes of photos) {
      for (let at = 0; at < Math.min(bytes.length, 600); at++) {
        await probe(bytes.subarray(0, at));
        await probe(Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 1)]));
      }
    }
  });
});

test('a read that fails is a breakdown, not an answer', async () => {
  const source = new CountedSource(await canvas(900, 600).tiff().toBuffer());
  source.read = () => Promise.reject(new Error('the store is down'));
  await expect(look(source)).rejects.toThrow('the store is down');
});

// A screen of this size with one frame of one pixel.
function smallFrame(width: number, height: number): Buffer {
  const screen = Buffer.from('GIF89a\0\0\0\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1');
  screen.writeUInt16LE(width, 6);
  screen.writeUInt16LE(height, 8);
  return Buffer.concat([screen, Buffer.from('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;', 'latin1')]);
}

// A directory with a size of 64 x 48 and these entries: tag, type, count, value.
function tiffWith(...entries: readonly (readonly [number, number, number, number])[]): Buffer {
  const all = [[256, 4, 1, 64] as const, [257, 4, 1, 48] as const, ...entries];
  const bytes = Buffer.alloc(8 + 2 + all.length * 12 + 4);
  bytes.write('II*\0\x08', 0, 'latin1');
  bytes.writeUInt16LE(all.length, 8);
  all.forEach(([tag, type, count, value], n) => {
    bytes.writeUInt16LE(tag, 10 + n * 12);
    bytes.writeUInt16LE(type, 12 + n * 12);
    bytes.writeUInt32LE(count, 14 + n * 12);
    bytes.writeUInt32LE(value, 18 + n * 12);
  });
  return bytes;
}
