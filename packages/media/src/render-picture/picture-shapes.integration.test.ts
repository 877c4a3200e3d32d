import { deflateSync } from 'node:zlib';
import { header, png } from '@echodrop/testkit/hostile/hostile-photo-parts';
import { bitmap } from '@echodrop/testkit/samples/sample-bmp';
import { pngChunk } from '@echodrop/testkit/samples/sample-png';
import sharp, { type Sharp } from 'sharp';
import { expect, test } from 'vitest';
import type { PhotoType } from '../detect-media-type.ts';
import { drawnPictures } from '../rendered.fixture.ts';
import { picturesOf } from '../rendition-recipes.ts';
import { pictureSize } from '../rendition-size.ts';
import { cropArea } from './pixel-sizes.ts';

const shapes = [
  [1, 60_000],
  [60_000, 1],
  [1, 100_000_000],
  [100_000_000, 1],
  [8, 65_500],
  [65_500, 8],
  [3, 31],
  [150, 1000],
  [10_000, 10_000],
] as const;

test.each(shapes)('the intermediate picture of a crop of %i x %i is at most ten times the square', (...sides) => {
  const [width, height] = sides;
  const { left, top, ...middle } = cropArea({ width, height });
  const enlarged = 150 / Math.min(middle.width, middle.height);
  expect(middle.width * enlarged * middle.height * enlarged).toBeLessThanOrEqual(150 * 1500);
  expect(Math.min(middle.width, middle.height)).toBe(Math.min(width, height));
  expect(Math.abs(width - middle.width - 2 * left)).toBeLessThanOrEqual(1);
  expect(Math.abs(height - middle.height - 2 * top)).toBeLessThanOrEqual(1);
});

// Ten times the usual time. Before crops were bounded, one took five times as long as this.
const maxSeconds = 10;

// biome-ignore format: a table, one row per line
test.each<[PhotoType, number, number, () => Buffer | Promise<Buffer>]>([
  ['png', 1, 60_000, () => greyPng(1, 60_000)],
  ['png', 60_000, 1, () => greyPng(60_000, 1)],
  ['png', 1, 2_000_000, () => greyPng(1, 2_000_000)],
  // Including halves that libraries might round differently.
  ['png', 1201, 801, () => greyPng(1201, 801)],
  ['png', 2400, 1, () => greyPng(2400, 1)],
  ['png', 5000, 2, () => greyPng(5000, 2)],
  ['png', 800, 1999, () => greyPng(800, 1999)],
  ['jpg', 65_500, 8, () => canvas(65_500, 8).jpeg().toBuffer()],
  ['jpg', 1, 65_500, () => canvas(1, 65_500).jpeg().toBuffer()],
  ['gif', 1, 65_535, () => canvas(1, 65_535).gif().toBuffer()],
  ['gif', 65_535, 2, () => canvas(65_535, 2).gif().toBuffer()],
  ['webp', 16_383, 1, () => canvas(16_383, 1).webp().toBuffer()],
  ['webp', 1, 16_383, () => canvas(1, 16_383).webp({ lossless: true }).toBuffer()],
  ['avif', 16_384, 1, () => canvas(16_384, 1).avif({ effort: 0 }).toBuffer()],
  ['avif', 1, 16_384, () => canvas(1, 16_384).avif({ effort: 0 }).toBuffer()],
  ['tiff', 1, 60_000, () => canvas(1, 60_000).tiff({ compression: 'lzw' }).toBuffer()],
  ['bmp', 60_000, 1, () => bitmap({ width: 60_000, height: 1, header: 40 })],
  ['bmp', 1, 60_000, () => bitmap({ width: 1, height: 60_000, header: 40 })],
])('makes all pictures of a %s of %i x %i within seconds', async (type, width, height, make) => {
  const bytes = await make();
  const before = process.cpuUsage();
  const { end, pictures } = await drawnPictures(type, bytes);
  const { user, system } = process.cpuUsage(before);
  expect(end).toEqual({ outcome: 'made' });
  expect((user + system) / 1e6).toBeLessThan(maxSeconds);
  for (const recipe of picturesOf(type)) {
    const found = await sharp(pictures.get(`${recipe.name}.${recipe.extension}`), { limitInputPixels: false }).metadata();
    expect(found).toMatchObject(pictureSize(recipe, { type, width, height }));
  }
});

function canvas(width: number, height: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: '#4080c0' } });
}

function greyPng(width: number, height: number): Buffer {
  const row = Buffer.alloc(width + 1, 0x80);
  row[0] = 0;
  return png(header(width, height), pngChunk('IDAT', deflateSync(Buffer.concat(new Array<Buffer>(height).fill(row)))));
}
