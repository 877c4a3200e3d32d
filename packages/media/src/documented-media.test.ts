import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isPhoto, type MediaType, mediaTypes } from './detect-media-type.ts';
import { type PictureSize, picturesOf, videoRecipe } from './rendition-recipes.ts';
import { isListedCodec, videoGuards } from './video-layout/video-codecs.ts';

const page = await readFile(resolve(import.meta.dirname, '../../../docs/reference/media.md'), 'utf8');

/** The text below a heading, up to the next one. */
function below(heading: string): string {
  return page.split(`\n${heading}\n`)[1]?.split('\n#')[0] ?? '';
}

/** The cells of the table below a heading, row by row, without its head. */
function tableBelow(heading: string): string[][] {
  const [, , ...rows] = below(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

function option(type: MediaType, name: string): readonly string[] {
  const guards = isPhoto(type) ? [] : videoGuards(type);
  return guards[guards.indexOf(name) + 1]?.split(',') ?? [];
}

test('the docs list every accepted type and its demuxers', () => {
  const documented = tableBelow('## Types').map(([type, , decoders = '']) => [
    type,
    /^ffmpeg \((.+)\)$/.exec(decoders)?.[1],
  ]);
  const done = mediaTypes.map((type) => [
    type,
    isPhoto(type) ? undefined : option(type, '-format_whitelist').join(', '),
  ]);
  expect(documented).toEqual(done);
});

test('the docs list the accepted codecs', () => {
  const documented = /```text\n([^`]+)```/.exec(below('### Codecs'))?.[1]?.trim().split(/\s+/);
  expect(documented).toEqual(option('mp4', '-codec_whitelist').filter(isListedCodec));
});

test('the docs list every recipe', () => {
  const extensions = new Map<string, Set<string>>();
  const sizes = new Map<string, string>();
  for (const recipe of mediaTypes.flatMap(picturesOf)) {
    extensions.set(recipe.name, (extensions.get(recipe.name) ?? new Set()).add(recipe.extension));
    sizes.set(recipe.name, format(recipe.size));
  }
  const pictures = [...extensions].map(([name, found]) => [name, [...found].join(', '), sizes.get(name)]);
  const video = ['video', videoRecipe.extension, 'of videos only'];
  expect(tableBelow('## Renditions')).toEqual([...pictures, video]);
});

function format(size: PictureSize): string {
  if (size === 'whole') return 'whole';
  return 'crop' in size ? `square of ${size.crop}` : `longest side ${size.longest}`;
}
