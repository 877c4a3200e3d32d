import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { isPhoto, type MediaType, type VideoType } from './detect-media-type.ts';
import { mediaFile } from './media-file.fixture.ts';
import type { Rendered, RenditionReason, UnsupportedReason } from './outcomes.ts';
import { drawPictures } from './render-picture/draw-pictures.ts';
import type { PictureToMake } from './render-picture/picture-job.ts';
import { extractStill, type PictureOptions, renderPictures } from './render-picture/render-pictures.ts';
import { renderVideo } from './render-video/render-video.ts';
import { type PictureRecipe, picturesOf } from './rendition-recipes.ts';
import { type Track, videoTracks } from './video-layout/ffprobe.ts';
import { type LocalMedia, type LocalVideo, readVideo } from './video-layout/read-video.ts';

/** More time than any sample takes, on a busy machine too. */
export const patientBudget = { seconds: patienceMs / 1000, cpuSeconds: 240 };

/** A track of H.264 that states nothing about its colours. */
export const sampleTrack: Track = {
  index: 0,
  kind: 'video',
  codec: 'h264',
  pixelFormat: 'yuv420p',
  hasAlpha: false,
  fieldOrder: '',
  rotation: 0,
  startSeconds: 0,
  channels: 0,
  matrix: '',
  primaries: '',
  transfer: '',
  range: '',
  width: 64,
  height: 48,
  pixelAspect: 1,
  isDefault: true,
  isCover: false,
  frameRate: 25,
  seconds: 1,
};

interface Bounds {
  readonly maxPixels?: number;
  readonly signal?: AbortSignal;
}

/** What a video may cost in a test. */
export function videoOptions({ maxPixels = 100_000_000, signal = patientSignal() }: Bounds = {}) {
  return { maxPixels, signal, budget: patientBudget, estimatedSeconds: Number.POSITIVE_INFINITY };
}

/** What pictures may cost in a test. */
export function pictureOptions(scratchDir: string, bounds: Bounds = {}): PictureOptions {
  return { scratchDir, ...videoOptions(bounds), stillBudget: patientBudget };
}

/** Media of any type as a file, or why it cannot be shown. */
async function localMedia(path: string, type: MediaType): Promise<LocalMedia | UnsupportedReason> {
  return isPhoto(type) ? { path, type } : readVideo(path, type, patientSignal());
}

/** A video as a file. @throws Error if it cannot be shown */
export async function localVideo(path: string, type: VideoType, signal = patientSignal()): Promise<LocalVideo> {
  const video = await readVideo(path, type, signal);
  if (typeof video === 'string') throw new Error(video);
  return video;
}

/** How rendering ended, and what was made, by name and extension (`large.webp`). */
interface RenderedMedia {
  readonly end: Rendered;
  readonly pictures: ReadonlyMap<string, Buffer>;
}

/** Makes pictures of media as a worker does. */
export async function renderedPictures(type: MediaType, bytes: Buffer, bounds: Bounds = {}): Promise<RenderedMedia> {
  await using file = await mediaFile(bytes);
  const wanted = picturesIn(file.folder, picturesOf(type));
  const media = await localMedia(file.path, type);
  if (typeof media === 'string') return notShown(media);
  const { rendered } = await renderPictures(media, wanted, pictureOptions(file.folder, bounds));
  return { end: rendered, pictures: await picturesAt(wanted) };
}

/** Draws pictures as `renderedPictures` does, but in this process, for tests of many photos. */
export async function drawnPictures(
  type: MediaType,
  bytes: Buffer,
  recipes: readonly PictureRecipe[] = picturesOf(type),
): Promise<RenderedMedia> {
  await using file = await mediaFile(bytes);
  const pictures = picturesIn(file.folder, recipes);
  const options = pictureOptions(file.folder);
  const media = await localMedia(file.path, type);
  if (typeof media === 'string') return notShown(media);
  const source = await extractStill(media, true, options);
  if (typeof source === 'string') return notShown(source);
  const end = await drawPictures({ source, pictures, maxPixels: options.maxPixels }, () => {});
  if (end.outcome === 'failed') throw new Error(end.message);
  return { end, pictures: await picturesAt(pictures) };
}

function notShown(why: RenditionReason): RenderedMedia {
  return { end: { outcome: 'unsupported', why }, pictures: new Map() };
}

function picturesIn(folder: string, recipes: readonly PictureRecipe[]): readonly PictureToMake[] {
  return recipes.map((recipe) => ({ recipe, path: join(folder, nameOf(recipe)) }));
}

async function picturesAt(wanted: readonly PictureToMake[]): Promise<ReadonlyMap<string, Buffer>> {
  const read = wanted.map(async ({ recipe, path }) => {
    const bytes = await readFile(path).catch(() => undefined);
    return bytes ? ([[nameOf(recipe), bytes]] as const) : [];
  });
  return new Map((await Promise.all(read)).flat());
}

/** Draws pictures in this process. @returns the bytes of each by name and extension @throws Error if one cannot be made */
export async function picturesMade(type: MediaType, bytes: Buffer): Promise<(name: string) => Buffer> {
  const { end, pictures } = await drawnPictures(type, bytes);
  if (end.outcome !== 'made') throw new Error(end.why);
  return (name) => pictures.get(name) ?? Buffer.alloc(0);
}

interface VideoMade {
  readonly source: LocalVideo;
  /** What ffprobe says of the video. */
  readonly tracks: readonly Track[];
  readonly video: Buffer;
}

/** The video made of a video. @throws Error if none can be made */
export async function videoMade(
  type: MediaType,
  bytes: Buffer,
  { seconds = patientBudget.seconds, ...bounds }: Bounds & { readonly seconds?: number } = {},
): Promise<VideoMade> {
  if (isPhoto(type)) throw new Error('no video');
  await using file = await mediaFile(bytes);
  const made = join(file.folder, 'video.mp4');
  const source = await localVideo(file.path, type, bounds.signal);
  const options = videoOptions(bounds);
  const end = await renderVideo(source, made, { ...options, budget: { ...options.budget, seconds } });
  if (end.outcome !== 'made') throw new Error(end.why);
  const tracks = await videoTracks(made, 'mp4', options.signal);
  if (typeof tracks === 'string') throw new Error(tracks);
  return { source, tracks, video: await readFile(made) };
}

/** Bytes of the first picture of H.264 (an IDR slice: ITU-T H.264 table 7-1, type 5), which a copy keeps. */
export function firstPicture(video: Buffer): Buffer {
  const at = video.indexOf(Buffer.from([0x65, 0x88])) + 100;
  return video.subarray(at, at + 100);
}

function nameOf({ name, extension }: PictureRecipe): string {
  return `${name}.${extension}`;
}
