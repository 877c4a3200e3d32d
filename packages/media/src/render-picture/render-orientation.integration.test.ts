import { exif } from '@echodrop/testkit/samples/sample-exif';
import { type HeifSample, heif } from '@echodrop/testkit/samples/sample-heif';
import { pngChunk, pngWithChunks } from '@echodrop/testkit/samples/sample-png';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { PhotoType } from '../detect-media-type.ts';
import { probed } from '../probed.fixture.ts';
import { picturesMade } from '../rendered.fixture.ts';

const orientations = [1, 2, 3, 4, 5, 6, 7, 8] as const;
const wide = { width: 96, height: 64 };

/** The displayed size in the record, and the whole picture from the same bytes. */
async function recordAndPicture(type: PhotoType, bytes: Buffer) {
  const record = await probed(bytes);
  const picture = (await picturesMade(type, bytes))(type === 'png' ? 'full.png' : 'full.jpg');
  const { width, height } = await sharp(picture).metadata();
  expect(record).toMatchObject({ outcome: 'media', type, width, height });
  return picture;
}

/** The colours at the centres of the four quarters, clockwise from the upper left. */
async function corners(picture: Buffer): Promise<number[][]> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const [left, right] = [1, 3].map((n) => Math.floor((info.width * n) / 4));
  const [top, bottom] = [1, 3].map((n) => Math.floor((info.height * n) / 4));
  const at = (x = 0, y = 0) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)];
  return [at(left, top), at(right, top), at(right, bottom), at(left, bottom)];
}

async function fourColours(): Promise<Buffer> {
  const tile = { width: wide.width / 2, height: wide.height / 2, channels: 3 as const };
  const black = sharp({ create: { ...tile, ...wide, background: '#000000' } });
  const tiles = ['#c00000', '#00c000', '#0000c0'].map((background, n) => ({
    input: { create: { ...tile, background } },
    left: n % 2 === 0 ? 0 : tile.width,
    top: n < 2 ? 0 : tile.height,
  }));
  // Larger than the first read of a probe.
  return black.composite(tiles).png({ compressionLevel: 0 }).toBuffer();
}

test.each(orientations)('draws a PNG with EXIF orientation %i after its pixels like its record', async (n) => {
  const png = await fourColours();
  const behind = pngWithChunks(png, 'last', pngChunk('eXIf', exif({ orientation: n })));
  const found = await corners(await recordAndPicture('png', behind));
  const expected = sharp(await sharp(png).withMetadata({ orientation: n }).toBuffer()).autoOrient();
  expect(found).toEqual(await corners(await expected.png().toBuffer()));
});

const heic = { coding: 'hevc', brands: ['heic', 'mif1', 'heic'], ...wide } satisfies HeifSample;

async function expectAlike(found: Buffer, expected: Buffer): Promise<void> {
  const expectedCorners = await corners(expected);
  (await corners(found)).forEach((corner, n) => {
    corner.forEach((value, channel) => {
      expect(Math.abs(value - (expectedCorners[n]?.[channel] ?? 0))).toBeLessThan(40);
    });
  });
}

test.each([3, 5, 8])('draws a HEIC with EXIF orientation %i and no transformation like its record', async (n) => {
  const [plain, turned] = await Promise.all([heif(heic), heif({ ...heic, orientation: n })]);
  const upright = await sharp((await picturesMade('heic', plain))('full.jpg'))
    .png()
    .toBuffer();
  const expected = sharp(await sharp(upright).withMetadata({ orientation: n }).toBuffer()).autoOrient();
  await expectAlike(await recordAndPicture('heic', turned), await expected.png().toBuffer());
});

test('rotates a HEIC with a transformation and EXIF once', async () => {
  const once = await heif({ ...heic, quarterTurns: 3 });
  const both = await heif({ ...heic, quarterTurns: 3, orientation: 6 });
  const expected = (await picturesMade('heic', once))('full.jpg');
  await expectAlike(await recordAndPicture('heic', both), expected);
});

test.each([
  [0, false],
  [1, false],
  [2, false],
  [3, true],
  [0, true],
] as const)(
  'shows the right part of a cropped HEIC, rotated by %i quarter turns, mirrored: %s',
  async (quarterTurns, mirrored) => {
    const crop = { width: 24, height: 16, right: 20, down: 10 };
    const cropped = await heif({ ...heic, crop, quarterTurns, mirrored });
    const whole = (await picturesMade('heic', await heif(heic)))('full.jpg');
    const part = await sharp(whole)
      .extract({ left: 36 + crop.right, top: 24 + crop.down, width: crop.width, height: crop.height })
      .png()
      .toBuffer();
    const turned = await sharp(part)
      .rotate(-90 * quarterTurns)
      .png()
      .toBuffer();
    const expected = mirrored ? sharp(turned).flip() : sharp(turned);
    await expectAlike(await recordAndPicture('heic', cropped), await expected.png().toBuffer());
  },
);
