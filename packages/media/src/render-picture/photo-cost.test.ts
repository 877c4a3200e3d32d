import { expect, test } from 'vitest';
import type { PhotoType } from '../detect-media-type.ts';
import { photoCostSeconds } from './photo-cost.ts';

const megapixels = (type: PhotoType, number: number) => ({ type, pixels: number * 1e6 });

test.each([
  ['jpg', 100],
  ['heic', 24],
  ['webp', 12],
  ['png', 24],
] as const)('estimates less than 2.5 seconds for pictures of a %s of %i megapixels', (type, number) => {
  expect(photoCostSeconds(megapixels(type, number), 'pictures')).toBeLessThan(2.5);
});

test.each([
  ['png', 100],
  ['tiff', 100],
  ['heic', 48],
  ['gif', 48],
] as const)('estimates more for pictures of a %s of %i megapixels', (type, number) => {
  expect(photoCostSeconds(megapixels(type, number), 'pictures')).toBeGreaterThan(2.5);
});
