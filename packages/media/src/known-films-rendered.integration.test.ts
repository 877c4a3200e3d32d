import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { within } from './fit.ts';
import { contentsOf } from './iso-boxes.ts';
import { knownFilms } from './known-films.fixture.ts';
import { renderFilm } from './render-film.ts';
import { pictureOfFilm } from './still-picture.ts';
import { trackSize } from './track-size.ts';
import type { Size } from './unsupported.ts';

const fullHd = { longest: 1920, shortest: 1080 };
// A header alone shows nothing.
const shown = knownFilms.filter(([name]) => !name.endsWith('by its header'));

test.concurrent.each(shown)('%s: its film and its poster have the shape of its record', async (...row) => {
  const [, type, width, height, make] = row;
  await using folder = await mkdtempDisposable(join(tmpdir(), 'known-films-'));
  const [path, film, poster] = ['media', 'film.mp4', 'poster.png'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await writeFile(path, await make());
  const options = { maxPixels: 100_000_000, signal: AbortSignal.timeout(50_000) };
  expect(await renderFilm({ path, type }, film, options)).toEqual({ outcome: 'made' });
  expectShape(filmSize(await readFile(film)), within({ width, height }, fullHd));
  expect(await pictureOfFilm({ path, type }, poster, options)).toBe('done');
  expectShape(pngSize(await readFile(poster)), { width, height });
});

// H.264 has even sides.
function expectShape(size: Size | undefined, { width, height }: Size): void {
  expect(Math.abs((size?.width ?? 0) - width), `${size?.width} wide, not ${width}`).toBeLessThanOrEqual(1);
  expect(Math.abs((size?.height ?? 0) - height), `${size?.height} high, not ${height}`).toBeLessThanOrEqual(1);
}

function filmSize(film: Buffer): Size | undefined {
  const [moov] = contentsOf(film, 'moov');
  return moov && trackSize(moov, 'vide');
}

function pngSize(png: Buffer): Size {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}
