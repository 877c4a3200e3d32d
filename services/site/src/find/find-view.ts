import { buffer } from 'node:stream/consumers';
import type { RenditionClient } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { fullRecipe, pictureRecipes, type Recipe, videoRecipe } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import { findMedia, forgetMedia, type NoMedia, type PublishedMedia } from './find-media.ts';
import type { ObjectSources } from './find-object.ts';
import {
  findRendition,
  makeRendition,
  type RenditionSources,
  type RenditionState,
  requestedMedia,
  storedRendition,
} from './find-rendition.ts';

/** The states of the renditions that a page of media shows. */
export interface MediaView {
  readonly picture: RenditionState;
  /** Videos only. */
  readonly video?: RenditionState;
  /** The share of a video that is transcoded, from 0 to 1, while that goes on. */
  readonly progress?: number | undefined;
  /** Whether a photo's medium picture exists. */
  readonly hasMedium?: boolean;
  /** Whether a photo moves, which only its whole rendition does. */
  readonly isAnimated?: boolean;
  /** Whether the browser isReloading the page until everything is ready. */
  readonly isReloading?: boolean;
}

export interface ViewSources extends RenditionSources {
  readonly renditions: Pick<RenditionClient, 'make' | 'videoProgress'>;
}

/** The view after a wait of at most `waitMs` for renditions, a few seconds by default, or what became of the media. @throws StoreUnavailable, UnreadableRecord, signal's reason */
export async function findView(
  record: PublishedMedia,
  sources: ViewSources,
  signal: AbortSignal,
  waitMs?: number,
): Promise<MediaView | NoMedia> {
  const view = isPhoto(record.type)
    ? await photoView(record, sources, signal, waitMs)
    : await videoView(record, sources, signal, waitMs);
  if (!isPending(view)) return view;
  // It may have been removed meanwhile.
  forgetMedia(record, sources);
  const found = await findMedia(sources, record.id, signal);
  return typeof found === 'string' ? found : view;
}

/** Whether a rendition of a view is not ready yet. */
export function isPending({ picture, video }: MediaView): boolean {
  return picture === 'not_ready' || video === 'not_ready';
}

/** Whether a photo is so tall that within 1200 pixels it could not be read. */
export function isTall({ type, width, height }: PublishedMedia): boolean {
  return isPhoto(type) && height > 3 * width;
}

async function photoView(
  record: PublishedMedia,
  sources: ViewSources,
  signal: AbortSignal,
  waitMs?: number,
): Promise<MediaView> {
  const { large, mediumWebp } = pictureRecipes;
  const recipe: Recipe = isTall(record) ? fullRecipe(record.type) : large;
  const { state: picture } = await findRendition(record, recipe, sources, signal, waitMs);
  // Embed codes are copied right after the upload. Before the whole rendition exists, only the type says whether it moves.
  if (picture !== 'ready') return { picture, isAnimated: record.type === 'gif' };
  const [medium, animated] = await Promise.all([
    storedRendition(record, mediumWebp, sources, signal),
    isAnimated(record, sources, signal),
  ]);
  // Uploads of earlier releases have no medium picture. Its first viewer need not wait for it.
  if (!medium) makeRendition(record, mediumWebp, sources, signal).catch(() => {});
  return { picture, hasMedium: medium !== undefined, isAnimated: animated };
}

async function videoView(
  record: PublishedMedia,
  sources: ViewSources,
  signal: AbortSignal,
  waitMs?: number,
): Promise<MediaView> {
  const find = (recipe: Recipe) => findRendition(record, recipe, sources, signal, waitMs);
  const [picture, video] = await Promise.all([find(pictureRecipes.large), find(videoRecipe)]);
  const states = { picture: picture.state, video: video.state };
  if (video.state !== 'not_ready') return states;
  const progress = await sources.renditions.videoProgress(requestedMedia(record)).catch(() => undefined);
  return { ...states, progress };
}

// RFC 9649 section 2.7: the flags of the extended header, and the animation flag.
const flagsAt = 20;
const animationFlag = 0x02;

/** Whether a photo may be animated: every GIF counts as such; a WebP says so in the first bytes of its whole rendition. */
async function isAnimated(
  { type, mediaKey }: PublishedMedia,
  { store, memory }: ObjectSources,
  signal: AbortSignal,
): Promise<boolean> {
  if (type === 'gif') return true;
  if (type !== 'webp') return false;
  const key = renditionKey(mediaKey, fullRecipe(type));
  const range = { offset: 0, length: flagsAt + 1 };
  const read = async (cancelled: AbortSignal) => {
    const reading = await store.read(key, { range, signal: cancelled });
    return reading ? buffer(reading.body) : Buffer.alloc(0);
  };
  const head = await memory.find(`head ${key}`, signal, read, ({ length }) => length || undefined);
  return head.toString('latin1', 12, 16) === 'VP8X' && ((head[flagsAt] ?? 0) & animationFlag) !== 0;
}
