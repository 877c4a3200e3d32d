import { expect, test } from 'vitest';
import type { MediaType } from './detect-media-type.ts';
import { type RenditionSet, recipesOf } from './rendition-recipes.ts';

const ofPages = ['mini.jpg', 'thumb.jpg', 'small.jpg', 'medium.jpg', 'medium.webp', 'large.jpg', 'large.webp'];
const largest = 1200 * 1200;

// biome-ignore format: a table, one row per line
test.each<[string, RenditionSet, MediaType, number | undefined, string[]]>([
  ['a photo of unknown size', 'pictures', 'png', undefined, ofPages],
  ['a photo of unknown size', 'whole', 'png', undefined, ['full.png']],
  ['a small photo, whose direct link never waits', 'pictures', 'png', largest, [...ofPages, 'full.png']],
  ['a small photo, for a site of an earlier release', 'whole', 'png', largest, ['full.png']],
  ['a larger photo', 'pictures', 'png', largest + 1, ofPages],
  ['a format with animations, which pages show whole', 'pictures', 'gif', largest + 1, [...ofPages, 'full.gif']],
  ['a photo', 'film', 'png', undefined, []],
  ['a video', 'film', 'avi', undefined, [...ofPages, 'film.mp4']],
  ['a small video', 'film', 'avi', largest, [...ofPages, 'full.jpg', 'film.mp4']],
])('the renditions of %s in the set %s', (_, set, type, pixels, names) => {
  expect(recipesOf(set, { type, pixels }).map(({ name, extension }) => `${name}.${extension}`)).toEqual(names);
});
