import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patientSignal } from '@echodrop/testkit/patience';
import { isPhoto, type MediaType, type VideoType } from '../detect-media-type.ts';
import type { Rendered } from '../outcomes.ts';
import { drawPictures } from '../render-picture/draw-pictures.ts';
import type { PictureToMake } from '../render-picture/picture-job.ts';
import { prepareSource, renderPictures } from '../render-picture/render-pictures.ts';
import { type PictureRecipe, picturesOf } from '../rendition-recipes.ts';
import { type Track, videoTracks } from '../video-layout/ffprobe.ts';
import { renderVideo } from './render-video.ts';

interface Bounds {
  readonly maxPixels?: number;
  readonly signal?: AbortSignal;
}

const usual = 100_000_000;

/** How rendering ended, and what was made, by name and extension (`large.webp`). */
export async function renderedPictures(
  type: MediaType,
  bytes: Buffer,
  { maxPixels = usual, signal = patientSignal() }: Bounds = {},
): Promise<{ end: Rendered; pictures: ReadonlyMap<string, Buffer> }> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'rendered-'));
  const media = { path: join(folder.path, 'media'), type };
  await writeFile(media.path, bytes);
  const wanted = picturesOf(type).map((recipe) => ({ recipe, path: join(folder.path, nameOf(recipe)) }));
  const end = await renderPictures(media, wanted, { scratchDir: folder.path, maxPixels, signal });
  return { end, pictures: await picturesAt(wanted) };
}

/** The same without a process of its own for the drawing, for tests of many photos. */
export async function drawnPictures(
  type: MediaType,
  bytes: Buffer,
  recipes: readonly PictureRecipe[] = picturesOf(type),
  tracks?: readonly Track[],
): Promise<{ end: Rendered; pictures: ReadonlyMap<string, Buffer> }> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'drawn-'));
  const media = { path: join(folder.path, 'media'), type, ...(tracks && { tracks }) };
  await writeFile(media.path, bytes);
  const pictures = recipes.map((recipe) => ({ recipe, path: join(folder.path, nameOf(recipe)) }));
  const options = { maxPixels: usual, signal: patientSignal() };
  const source = await prepareSource(media, join(folder.path, 'still.png'), { ...options, isWhole: true });
  if (typeof source === 'string') return { end: { outcome: 'unsupported', why: source }, pictures: new Map() };
  const end = await drawPictures({ source, pictures, maxPixels: usual });
  if (end.outcome === 'failed') throw new Error(end.message);
  return { end, pictures: await picturesAt(pictures) };
}

async function picturesAt(wanted: readonly PictureToMake[]): Promise<ReadonlyMap<string, Buffer>> {
  const read = wanted.map(async ({ recipe, path }) => {
    const bytes = await readFile(path).catch(() => undefined);
    return bytes ? ([[nameOf(recipe), bytes]] as const) : [];
  });
  return new Map((await Promise.all(read)).flat());
}

/** Those of media of which pictures can be made, drawn in this process. */
export async function picturesMade(type: MediaType, bytes: Buffer): Promise<(name: string) => Buffer> {
  const { end, pictures } = await drawnPictures(type, bytes);
  if (end.outcome !== 'made') throw new Error(end.why);
  return (name) => pictures.get(name) ?? Buffer.alloc(0);
}

/** The video made of a video, and what ffprobe says of both. */
export async function videoMade(
  type: MediaType,
  bytes: Buffer,
  { maxPixels = usual, signal = patientSignal(), ...bounds }: Bounds & { readonly seconds?: number } = {},
): Promise<{ originalTracks: readonly Track[]; tracks: readonly Track[]; video: Buffer }> {
  if (isPhoto(type)) throw new Error('no video');
  await using folder = await mkdtempDisposable(join(tmpdir(), 'rendered-'));
  const media = join(folder.path, 'media');
  const made = join(folder.path, 'video.mp4');
  await writeFile(media, bytes);
  const originalTracks = await tracksOf(media, type, signal);
  const end = await renderVideo({ path: media, type, tracks: originalTracks }, made, { maxPixels, signal, ...bounds });
  if (end.outcome !== 'made') throw new Error(end.why);
  return { originalTracks, tracks: await tracksOf(made, 'mp4', signal), video: await readFile(made) };
}

async function tracksOf(path: string, type: VideoType, signal: AbortSignal): Promise<readonly Track[]> {
  const tracks = await videoTracks(path, type, signal);
  if (typeof tracks === 'string') throw new Error(tracks);
  return tracks;
}

function nameOf({ name, extension }: PictureRecipe): string {
  return `${name}.${extension}`;
}
