import { expect, test } from 'vitest';
import { holesOf } from './known-holes.ts';

const ids = (...[tool, version]: Parameters<typeof holesOf>) => holesOf(tool, version).map(({ id }) => id);

test.each([
  '5.1.9-0+deb12u1',
  '5.1',
  '4.4.2-0ubuntu0.22.04.1',
  '6.1.1-3ubuntu5',
  '7.0.2',
  '7.1.4-static https://johnvansickle.com/ffmpeg/',
  'n8.1.1',
  '8.0',
])('ffmpeg %s has the hole of MagicYUV', (version) => {
  expect(ids('ffprobe', version)).toEqual(['CVE-2026-8461']);
  expect(ids('ffmpeg', version)).toEqual(['CVE-2026-8461']);
});

test.each(['5.1.10-0+deb12u1', '6.1.6', '6.1.10', '7.1.5', '8.1.2', 'n8.2', '9.0.1', '10.0', 'N-120424-g1ab2c3d'])(
  'ffmpeg %s is not known to have it',
  (version) => {
    expect(ids('ffmpeg', version)).toEqual([]);
  },
);

test('sharp below 0.35.4 has the hole of libheif', () => {
  expect(ids('sharp', '0.35.3')).toHaveLength(1);
  expect(ids('sharp', '0.34.9')).toHaveLength(1);
  expect(ids('sharp', '0.35.4')).toEqual([]);
  expect(ids('sharp', '0.36.0')).toEqual([]);
  expect(ids('sharp', '1.0.0')).toEqual([]);
});

test('libheif-js below 1.23.5 has the holes that libheif mended until then', () => {
  for (const version of ['1.19.8', '1.23.2', '1.23.4']) expect(ids('libheif-js', version)).toHaveLength(1);
  for (const version of ['1.23.5', '1.24.0', '2.0.0']) expect(ids('libheif-js', version)).toEqual([]);
});

test('what a guard keeps out is told from what nothing stands before', () => {
  expect(holesOf('ffprobe', '5.1.9').map(({ isKeptOut }) => isKeptOut)).toEqual([true]);
  expect(holesOf('sharp', '0.35.3').map(({ isKeptOut }) => isKeptOut)).toEqual([false]);
  expect(holesOf('libheif-js', '1.23.2').map(({ isKeptOut }) => isKeptOut)).toEqual([true]);
});
