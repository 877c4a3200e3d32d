import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { renderPictures } from './render-picture/render-pictures.ts';
import { renderVideo } from './render-video/render-video.ts';
import { fullRecipe, pictureRecipes } from './rendition-recipes.ts';
import { pictureSize, videoSize } from './rendition-size.ts';

// Without squares, which are slow for slivers.
const recipes = [pictureRecipes.large, fullRecipe('png')];
const options = { maxPixels: 100_000_000, signal: new AbortController().signal };

// Including halves that libraries might round differently, and slivers.
const photos = [
  { width: 1201, height: 801 },
  { width: 2400, height: 1 },
  { width: 5000, height: 2 },
  { width: 800, height: 1999 },
];

test.each(photos)('predicts the picture sizes of a photo of $width x $height', async (size) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'rendition-size-'));
  const path = join(folder.path, 'photo');
  await sharp({ create: { ...size, channels: 3, background: 'teal' } })
    .png()
    .toFile(path);
  const pictures = recipes.map((recipe, n) => ({ recipe, path: join(folder.path, `${n}`) }));
  const rendered = await renderPictures({ path, type: 'png' }, pictures, { ...options, scratchDir: folder.path });
  expect(rendered).toEqual({ outcome: 'made' });
  for (const { recipe, path: made } of pictures) {
    const { width, height } = await sharp(made).metadata();
    expect({ recipe: recipe.name, width, height }).toEqual({
      recipe: recipe.name,
      ...pictureSize(recipe, { ...size, type: 'png' }),
    });
  }
});

test.each([
  { width: 1080, height: 2340 },
  { width: 2000, height: 16 },
])('predicts the sizes of a transcoded video of $width x $height and of its pictures', async (size) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'rendition-size-'));
  const path = join(folder.path, 'video');
  await writeFile(path, await sampleVideo('webm', { ...size, seconds: 0.2, sound: false }));
  const large = { recipe: pictureRecipes.large, path: join(folder.path, 'large.jpg') };
  await renderPictures({ path, type: 'webm' }, [large], { ...options, scratchDir: folder.path });
  const { width, height } = await sharp(large.path).metadata();
  expect({ width, height }).toEqual(pictureSize(large.recipe, { ...size, type: 'webm' }));

  const video = join(folder.path, 'video.mp4');
  expect(await renderVideo({ path, type: 'webm' }, video, options)).toEqual({ outcome: 'made' });
  const entries = 'stream=width,height';
  const { stdout } = await execa('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', video]);
  const [stream] = JSON.parse(stdout).streams;
  expect(stream).toMatchObject(videoSize(size));
});
