import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { PhotoType } from '../detect-media-type.ts';
import { drawnPictures } from '../render-video/rendered.fixture.ts';
import { type PictureRecipe, pictureRecipes } from '../rendition-recipes.ts';

const photo = resolve(import.meta.dirname, 'photo.fixture.jpg');

/** The real photo next to its mirror images: 6 million pixels of real detail, decoded at a smaller size. */
function large() {
  return sharp(photo).extend({ right: 1400, bottom: 933, extendWith: 'mirror' });
}

// SSIM is 1 for the same picture. The smallest crops may be off by a pixel.
const mostLost = { mini: 0.025, others: 0.012 };

test.each<[string, PhotoType, () => Promise<Buffer>]>([
  ['a real JPEG of 1600 x 1067', 'jpg', () => readFile(photo)],
  ['a real JPEG of 6 megapixels', 'jpg', () => large().jpeg({ quality: 92 }).toBuffer()],
  ['a real JPEG on its side', 'jpg', () => sharp(photo).withMetadata({ orientation: 6 }).jpeg().toBuffer()],
  ['a real WebP of 6 megapixels', 'webp', () => large().webp({ quality: 92, effort: 0 }).toBuffer()],
  ['a test picture as PNG', 'png', () => samplePhoto('png', { width: 1600, height: 1200 })],
])('the pictures of %s are as good as separate ones by sharp from all pixels', async (_, type, make) => {
  const bytes = await make();
  // Prevents sharp from decoding a JPEG at a smaller size.
  const bitmap = await sharp(bytes)
    .autoOrient()
    .flatten({ background: '#ffffff' })
    .png({ compressionLevel: 0 })
    .toBuffer();
  const recipes = Object.values(pictureRecipes);
  const { pictures } = await drawnPictures(type, bytes, recipes);
  for (const recipe of recipes) {
    const { name, extension, quality } = recipe;
    const ideal = await direct(bitmap, recipe);
    const picture = pictures.get(`${name}.${extension}`) ?? Buffer.alloc(0);
    const peer = await sharp(ideal)
      .toFormat(extension === 'jpg' ? 'jpeg' : extension, { quality })
      .toBuffer();
    const lost = (await similarity(peer, ideal)) - (await similarity(picture, ideal));
    expect(lost, `${name}.${extension}`).toBeLessThan(name === 'mini' ? mostLost.mini : mostLost.others);
  }
});

function direct(bitmap: Buffer, { size }: PictureRecipe): Promise<Buffer> {
  const whole = sharp(bitmap);
  if (size === 'whole') return whole.png({ compressionLevel: 0 }).toBuffer();
  if ('crop' in size)
    return whole.resize(size.crop, size.crop, { fit: 'cover', position: 'attention' }).png().toBuffer();
  return whole.resize(size.longest, size.longest, { fit: 'inside', withoutEnlargement: true }).png().toBuffer();
}

// Wang, Bovik, Sheikh and Simoncelli 2004: luminance only, in half-overlapping windows of 8 x 8.
const side = 8;
const step = 4;
const steadyMean = (0.01 * 255) ** 2;
const steadySpread = (0.03 * 255) ** 2;

/** The structural similarity (SSIM) of two pictures of the same size; 1 if they are equal. */
async function similarity(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map(greyOf));
  expect([a?.width, a?.height]).toEqual([b?.width, b?.height]);
  let sum = 0;
  let windows = 0;
  for (let top = 0; a && b && top + side <= a.height; top += step) {
    for (let left = 0; left + side <= a.width; left += step, windows += 1) sum += windowSimilarity(a, b, left, top);
  }
  return sum / windows;
}

interface Grey {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

async function greyOf(picture: Buffer): Promise<Grey> {
  const { data, info } = await sharp(picture).greyscale().raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

function windowSimilarity(a: Grey, b: Grey, left: number, top: number): number {
  let sumA = 0;
  let sumB = 0;
  let squaresA = 0;
  let squaresB = 0;
  let products = 0;
  for (let y = top; y < top + side; y += 1) {
    for (let x = left; x < left + side; x += 1) {
      const p = a.data[y * a.width + x] ?? 0;
      const q = b.data[y * b.width + x] ?? 0;
      sumA += p;
      sumB += q;
      squaresA += p * p;
      squaresB += q * q;
      products += p * q;
    }
  }
  const count = side * side;
  const meanA = sumA / count;
  const meanB = sumB / count;
  const spreadA = squaresA / count - meanA ** 2;
  const spreadB = squaresB / count - meanB ** 2;
  const common = products / count - meanA * meanB;
  const brightness = (2 * meanA * meanB + steadyMean) / (meanA ** 2 + meanB ** 2 + steadyMean);
  return (brightness * (2 * common + steadySpread)) / (spreadA + spreadB + steadySpread);
}
