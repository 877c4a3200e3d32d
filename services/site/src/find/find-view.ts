import { buffer } from 'node:stream/consumers';
import type { RenditionClient } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { fullRecipe, pictureRecipes, videoRecipe } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { StoredObject } from '@echodrop/object-store/object-store';
import { findMedia, type MediaSources, type NoMedia, type PublishedMedia } from './find-media.ts';
import {
  findRendition,
  type NoRendition,
  type RenditionSources,
  type RenditionState,
  requestedMedia,
} from './find-rendition.ts';

/** The states of the renditions that a page of media shows. */
export interface MediaView {
  readonly picture: RenditionState;
  /** Videos only. */
  readonly video?: RenditionState;
  /** The share of a video that is transcoded, from 0 to 1, while that goes on. */
  readonly progress?: number | undefined;
  /** Whether a photo moves, which only its whole rendition does. */
  readonly isAnimated?: boolean;
}

export interface ViewSources extends RenditionSources {
  readonly videoProgress: RenditionClient['videoProgress'];
}

/** A record with its view after a wait of at most `waitMs` for renditions, a few seconds by default. @throws StoreUnavailable, UnreadableRecord, or the signal's reason */
export async function findView(
  id: string,
  sources: ViewSources,
  waitMs?: number,
): Promise<{ readonly record: PublishedMedia; readonly view: MediaView } | NoMedia> {
  const record = await findMedia(sources, id);
  if (typeof record === 'string') return record;
  const viewOf = isPhoto(record.type) ? photoView : videoView;
  return { record, view: await viewOf(record, sources, waitMs) };
}

/** Whether a rendition of a view is not ready yet. */
export function isPending({ picture, video }: MediaView): boolean {
  return picture === 'not_ready' || video === 'not_ready';
}

/** Whether the browser reloads the page of a view until everything is ready. A reload for a poster would stop a video that plays. */
export function isReloaded(view: MediaView): boolean {
  return view.video !== 'ready' && isPending(view);
}

/** Whether a photo is so tall that within 1200 pixels it could not be read. */
export function isTall({ type, width, height }: PublishedMedia): boolean {
  return isPhoto(type) && height > 3 * width;
}

async function photoView(record: PublishedMedia, sources: ViewSources, waitMs?: number): Promise<MediaView> {
  const recipe = isTall(record) ? fullRecipe(record.type) : pictureRecipes.large;
  // Only its rendition says whether a WebP moves.
  const picture = stateOf(await findRendition(record, recipe, sources, record.type === 'webp' ? undefined : waitMs));
  // Embed codes are copied right after the upload. Before the whole rendition exists, only the type says whether it moves.
  const isMoving = picture === 'ready' ? await isAnimated(record, sources) : record.type === 'gif';
  return { picture, isAnimated: isMoving };
}

async function videoView(record: PublishedMedia, sources: ViewSources, waitMs?: number): Promise<MediaView> {
  const [picture, video] = await Promise.all([
    findRendition(record, pictureRecipes.large, sources, waitMs),
    findRendition(record, videoRecipe, sources, waitMs),
  ]);
  const states = { picture: stateOf(picture), video: stateOf(video) };
  if (video !== 'not_ready') return states;
  const progress = await sources.videoProgress(requestedMedia(record)).catch(() => undefined);
  return { ...states, progress };
}

function stateOf(found: StoredObject | NoRendition): RenditionState {
  return typeof found === 'string' ? found : 'ready';
}

// RFC 9649 section 2.7: the flags of the extended header, and the animation flag.
const flagsAt = 20;
const animationFlag = 0x02;

/** Whether a photo may be animated: every GIF counts as such; a WebP says so in the first bytes of its whole rendition. */
async function isAnimated(
  { type, mediaKey }: PublishedMedia,
  { store, memory, signal }: MediaSources,
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
