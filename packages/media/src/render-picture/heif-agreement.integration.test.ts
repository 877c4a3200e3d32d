import { type HeifSample, heif } from '@echodrop/testkit/samples/sample-heif';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import type { UnsupportedReason } from '../outcomes.ts';
import { probed } from '../probed.fixture.ts';
import { drawnPictures } from '../rendered.fixture.ts';

const heic = { coding: 'hevc', brands: ['heic', 'mif1'], width: 128, height: 96 } as const;
const avif = { ...heic, coding: 'av1', brands: ['avif', 'mif1'] } as const;
const tiles = { columns: 2, rows: 2 } as const;

/** Replaces the first `from` by `to`, of the same length. */
const replaced = (from: string, to: string) => (file: Buffer) => {
  const changed = Buffer.from(file);
  changed.write(to, changed.indexOf(from), 'latin1');
  return changed;
};
/** Of the grid: rows and columns less one at 2 and 3, width and height at 4 and 6. */
const gridByte = (at: number, value: number) => (file: Buffer) => {
  const changed = Buffer.from(file);
  changed[changed.indexOf('idat') + 4 + at] = value;
  return changed;
};
const cut = (file: Buffer) => file.subarray(0, -20);
const whole = (file: Buffer) => file;

type Row = readonly [
  name: string,
  type: 'heic' | 'avif',
  sample: HeifSample,
  change: (file: Buffer) => Buffer,
  shown: readonly [width: number, height: number] | UnsupportedReason,
];

// biome-ignore format: a table, one row per line
const rows: readonly Row[] = [
  ['whose primary item is a tile of another', 'heic', { ...heic, tiles, primary: 2 }, whole, [64, 48]],
  ['whose primary item is a tile of another', 'avif', { ...avif, tiles, primary: 2 }, whole, [64, 48]],
  ['whose primary item is a thumbnail of another', 'heic', { ...heic, tiles, references: [['thmb', 60, 1]] }, whole, [128, 96]],
  ['whose primary item is a thumbnail of another', 'avif', { ...avif, tiles, references: [['thmb', 60, 1]] }, whole, [128, 96]],
  ['that refers to an item twice', 'heic', { ...heic, tiles, references: [['cdsc', 61, 1, 1]] }, whole, 'codec'],
  ['that refers to an item twice', 'avif', { ...avif, tiles, references: [['cdsc', 61, 1, 1]] }, whole, 'codec'],
  ['whose primary item is an identity', 'heic', { ...heic, identity: { width: 128, height: 96 } }, whole, [128, 96]],
  ['whose primary item is an identity of another size', 'heic', { ...heic, identity: { width: 64, height: 48 } }, whole, 'broken'],
  ['of H.264', 'heic', heic, replaced('hvc1\0', 'avc1\0'), 'codec'],
  ['of layered HEVC', 'heic', heic, replaced('hvc1\0', 'lhv1\0'), 'codec'],
  ['of HEVC', 'avif', avif, replaced('av01\0', 'hvc1\0'), 'codec'],
  ['of more tiles than it has', 'heic', { ...heic, tiles }, gridByte(3, 2), 'broken'],
  ['of more tiles than it has', 'avif', { ...avif, tiles }, gridByte(2, 2), 'broken'],
  ['larger than its tiles', 'heic', { ...heic, tiles }, gridByte(4, 1), 'broken'],
  ['with an essential property that nobody knows', 'heic', { ...heic, quarterTurns: 1 }, replaced('irot', 'what'), 'codec'],
  ['with an essential property that nobody knows', 'avif', { ...avif, quarterTurns: 1 }, replaced('irot', 'what'), 'codec'],
  ['without the setup of its decoder', 'avif', avif, replaced('av1C', 'free'), 'codec'],
  ['with a crop outside', 'heic', { ...heic, crop: { width: 64, height: 48, right: 40 } }, whole, 'broken'],
  ['with a crop outside', 'avif', { ...avif, crop: { width: 64, height: 48, down: 30 } }, whole, 'broken'],
  ['with a crop at its edge', 'avif', { ...avif, crop: { width: 64, height: 48, right: 32 } }, whole, [64, 48]],
  ['whose end is missing', 'heic', heic, cut, 'broken'],
  ['of tiles whose end is missing', 'heic', { ...heic, tiles }, cut, 'broken'],
  ['whose end is missing', 'avif', avif, cut, 'broken'],
  ['of tiles whose end is missing', 'avif', { ...avif, tiles }, cut, 'broken'],
];

test.each(rows)('a picture %s (%s): what is accepted is shown, in the size of the record', async (...row) => {
  const [, type, sample, change, shown] = row;
  const bytes = change(await heif(sample));
  const probe = await probed(bytes);
  if (typeof shown === 'string') {
    expect(probe).toEqual({ outcome: 'unsupported', why: shown });
    return;
  }
  const [width, height] = shown;
  expect(probe).toMatchObject({ type, width, height });
  const { end, pictures } = await drawnPictures(type, bytes);
  expect(end).toEqual({ outcome: 'made' });
  expect(await sharp(pictures.get(`full.${type === 'heic' ? 'jpg' : type}`)).metadata()).toMatchObject({
    width,
    height,
  });
});
