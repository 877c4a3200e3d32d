import { mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fuzz } from '@echodrop/testkit/fuzz/fuzz';
import sharp from 'sharp';
import { expect } from 'vitest';
import { isPhoto } from '../detect-media-type.ts';
import { bytesOf, mutated, photoSamples } from '../mutated-media.fixture.ts';
import { probed } from '../probed.fixture.ts';
import { pictureOptions } from '../rendered.fixture.ts';
import { fullRecipe, pictureRecipes } from '../rendition-recipes.ts';
import { pictureSize } from '../rendition-size.ts';
import { renderPictures } from './render-pictures.ts';

fuzz(
  'a mutated photo that is accepted has pictures of its size without metadata, or none',
  mutated(photoSamples),
  async (mutated) => {
    const bytes = await bytesOf(photoSamples, mutated);
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'render-photo-'));
    const probe = await probed(bytes, { scratchDir: scratch.path });
    if (probe.outcome === 'unsupported' || !isPhoto(probe.type)) return;
    const { type } = probe;
    const path = join(scratch.path, 'media');
    await writeFile(path, bytes);
    const wanted = [pictureRecipes.mini, fullRecipe(type)].map((recipe) => ({
      recipe,
      path: join(scratch.path, recipe.name),
    }));
    const { rendered } = await renderPictures({ path, type }, wanted, pictureOptions(scratch.path));
    if (rendered.outcome === 'made')
      for (const { recipe, path } of wanted) {
        const { width, height, pageHeight = height, format, exif, xmp } = await sharp(await readFile(path)).metadata();
        expect({ width, height: pageHeight }).toEqual(pictureSize(recipe, probe));
        expect({ format, exif, xmp }).toMatchObject({ exif: undefined, xmp: undefined });
      }
    else expect(['broken', 'too_costly', 'codec', 'too_many_pixels', 'timed_out']).toContain(rendered.why);
    const names = wanted.map(({ recipe }) => recipe.name);
    const known = ['media', 'still.png', ...names];
    expect((await readdir(scratch.path)).filter((name) => !known.includes(name))).toEqual([]);
  },
);
