import sharp from 'sharp';
import { expect, test } from 'vitest';
import { knownPhotos, turnedPhotos } from '../photo-size/known-photos.fixture.ts';
import { drawnPictures } from '../rendered.fixture.ts';
import { fullRecipe, pictureRecipes } from '../rendition-recipes.ts';
import { pictureSize } from '../rendition-size.ts';

async function sizeOf(picture: Buffer): Promise<{ width: number; height: number }> {
  const { width, height } = await sharp(picture, { limitInputPixels: false }).metadata();
  return { width, height };
}

// Not supported by browsers and ffmpeg, respectively.
const undrawn = /^JPEG without loss$|^BMP of OS\/2 2, its header cut short$/;
// libnsgif ignores the screen of these GIFs, and draws their first frame (docs/decisions/photos.md).
const ofOtherSize = /^GIF.* monitor/;
const drawn = knownPhotos.filter(([name]) => !undrawn.test(name) && !ofOtherSize.test(name));

// The other pictures are made from the large one (pixel-sizes.ts); picture-shapes.integration.test.ts tests them all.
test.each(drawn)(
  'the large and the whole picture of %s (%s, %i x %i) have the size in the record',
  async (...photo) => {
    const [, type, width, height, make] = photo;
    const recipes = [pictureRecipes.large, fullRecipe(type)];
    const { end, pictures } = await drawnPictures(type, await make(), recipes);
    expect(end).toEqual({ outcome: 'made' });
    for (const recipe of recipes) {
      const picture = `${recipe.name}.${recipe.extension}`;
      const size = await sizeOf(pictures.get(picture) ?? Buffer.alloc(0));
      expect({ picture, ...size }).toEqual({ picture, ...pictureSize(recipe, { type, width, height }) });
    }
  },
);

test.each(knownPhotos.filter(([name]) => undrawn.test(name)))(
  'makes no picture of %s',
  async (_, type, _width, _height, make) => {
    expect((await drawnPictures(type, await make())).end).toEqual({ outcome: 'unsupported', why: 'broken' });
  },
);

test.each(turnedPhotos)('the whole picture of a %s (%s, %i x %i) is upright', async (...photo) => {
  const [, type, width, height, make] = photo;
  const { end, pictures } = await drawnPictures(type, await make(), [fullRecipe(type)]);
  expect(end).toEqual({ outcome: 'made' });
  for (const picture of pictures.values()) expect(await sizeOf(picture)).toEqual({ width, height });
});
