import { made, samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { tiff } from '@echodrop/testkit/samples/sample-tiff';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { PhotoType } from '../detect-media-type.ts';
import { drawnPictures } from '../rendered.fixture.ts';
import { fullRecipe, pictureRecipes, picturesOf } from '../rendition-recipes.ts';

const size = { width: 320, height: 240 };
const animation = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=5:duration=1'];

const photos = {
  jpg: () => samplePhoto('jpg', size),
  'progressive jpg': async () =>
    sharp(await samplePhoto('png', size))
      .jpeg({ progressive: true })
      .toBuffer(),
  png: () => samplePhoto('png', size),
  'interlaced png': async () =>
    sharp(await samplePhoto('png', size))
      .png({ progressive: true })
      .toBuffer(),
  gif: () => samplePhoto('gif', size),
  'animated gif': () => made([...animation, '-f', 'gif']),
  webp: () => samplePhoto('webp', size),
  'animated webp': () => made([...animation, '-c:v', 'libwebp_anim', '-f', 'webp']),
  avif: () => samplePhoto('avif', size),
  tiff: () => samplePhoto('tiff', size),
};

const damages = {
  'without its last two bytes': (photo: Buffer) => photo.subarray(0, -2),
  'without its second half': (photo: Buffer) => photo.subarray(0, photo.length >> 1),
  'with garbage in its middle': (photo: Buffer) => {
    const garbage = Buffer.from(Array.from({ length: 50 }, (_, n) => (n * 37) & 255));
    const middle = photo.length >> 1;
    return Buffer.concat([photo.subarray(0, middle), garbage, photo.subarray(middle + garbage.length)]);
  },
};

type Damage = keyof typeof damages;
/** Whether the top is shown, and the number of frames of an animation. */
type Row = readonly [photo: keyof typeof photos, damage: Damage, shown: 'shown' | number | 'none'];

// biome-ignore format: a table, one row per line
const rows: readonly Row[] = [
  ['jpg', 'without its last two bytes', 'shown'],
  ['jpg', 'without its second half', 'shown'],
  ['jpg', 'with garbage in its middle', 'shown'],
  ['progressive jpg', 'without its last two bytes', 'shown'],
  ['progressive jpg', 'without its second half', 'shown'],
  ['png', 'without its last two bytes', 'shown'],
  ['png', 'without its second half', 'shown'],
  ['png', 'with garbage in its middle', 'shown'],
  ['gif', 'without its last two bytes', 'shown'],
  ['gif', 'without its second half', 'shown'],
  ['animated gif', 'without its second half', 3],
  ['animated gif', 'with garbage in its middle', 1],
  ['animated webp', 'with garbage in its middle', 1],
  // These decoders return the whole picture or nothing.
  ['interlaced png', 'without its second half', 'none'],
  ['webp', 'without its last two bytes', 'none'],
  ['webp', 'without its second half', 'none'],
  ['animated webp', 'without its second half', 'none'],
  ['avif', 'without its second half', 'none'],
  ['tiff', 'without its second half', 'none'],
];

test.each(rows)('shows what can be decoded of a %s %s: %s', async (photo, damage, shown) => {
  const type = (photo.split(' ').at(-1) ?? '') as PhotoType;
  const whole = await photos[photo]();
  const { end, pictures } = await drawnPictures(type, damages[damage](whole));
  if (shown === 'none') {
    expect(end).toEqual({ outcome: 'unsupported', why: 'broken' });
    expect(pictures.size).toBe(0);
    return;
  }
  expect(end).toEqual({ outcome: 'made' });
  expect(pictures.size).toBe(picturesOf(type).length);
  const { large } = pictureRecipes;
  const [found, expected] = await Promise.all([pictures.get(`${large.name}.${large.extension}`), whole].map(top));
  found?.forEach((value, n) => {
    expect(Math.abs(value - (expected?.[n] ?? Number.NaN))).toBeLessThan(40);
  });
  if (shown === 'shown') return;
  const { pages = 1 } = await sharp(pictures.get(`full.${fullRecipe(type).extension}`)).metadata();
  expect(pages).toBe(shown);
});

test('makes no picture of a TIFF with 32-bit samples', async () => {
  const { end } = await drawnPictures('tiff', tiff({ ...size, order: 'LE', bits: 32 }));
  expect(end).toEqual({ outcome: 'unsupported', why: 'broken' });
  expect((await drawnPictures('tiff', tiff({ ...size, order: 'LE' }))).end).toEqual({ outcome: 'made' });
});

/** The upper third of a picture in eight pixels. */
async function top(picture: Buffer = Buffer.alloc(0)): Promise<number[]> {
  const strip = { left: 0, top: 0, width: 320, height: 80 };
  return [...(await sharp(picture).removeAlpha().extract(strip).resize(4, 2, { fit: 'fill' }).raw().toBuffer())];
}
