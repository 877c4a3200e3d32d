import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { PhotoType } from '../detect-media-type.ts';
import { drawnPictures } from '../rendered.fixture.ts';
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

/** The structural similarity (SSIM) of the luminance of two pictures of the same size; 1 if they are equal. */
async function similarity(one: Buffer, other: Buffer): Promise<number> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'picture-quality-'));
  const inputs = [one, other].map(async (picture, n) => {
    const path = join(folder.path, `${n}.png`);
    await sharp(picture).toColourspace('b-w').png({ compressionLevel: 0 }).toFile(path);
    return ['-i', path];
  });
  const compare = ['-filter_complex', '[0]format=gray[a];[1]format=gray[b];[a][b]ssim', '-f', 'null', '-'];
  const { stderr } = await execa('ffmpeg', [...(await Promise.all(inputs)).flat(), ...compare]);
  return Number(/SSIM Y:([\d.]+)/.exec(stderr)?.[1]);
}
