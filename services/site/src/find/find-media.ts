import { tryFindRecord } from '@echodrop/archive/records';
import { type MediaType, mediaTypes } from '@echodrop/media/media-type';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import type { SiteEvents } from '../events.ts';

/** A record of media whose type we know. */
export interface PublishedMedia extends StoredRecord {
  readonly type: MediaType;
}

/** `not_found`: no such record, or no media id. `gone`: it was taken down, or its media is missing. */
export type NoMedia = 'not_found' | 'gone';

export interface MediaSources {
  readonly store: ObjectStore;
  readonly events: Pick<SiteEvents, 'mediaMissing' | 'recordUnreadable'>;
}

/**
 * The record of `id`, for what is shown about it: its media is known to be there.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function findMedia(
  sources: MediaSources,
  id: string,
  signal: AbortSignal,
): Promise<PublishedMedia | NoMedia> {
  const found = await findPublished(sources, id, signal);
  if (typeof found === 'string') return found;
  return (await isMediaGone(found, sources, signal)) ? 'gone' : found;
}

/**
 * The record of `id`, for its renditions: they tell of themselves whether they are there. No text but a media id ever becomes a key.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function findPublished(
  { store, events }: MediaSources,
  id: string,
  signal: AbortSignal,
): Promise<PublishedMedia | NoMedia> {
  const found = await tryFindRecord(store, id, signal);
  if (found === undefined) return 'not_found';
  const media = shownAs(found);
  if (!(media instanceof UnreadableRecord)) return media;
  events.recordUnreadable(id);
  throw media;
}

function shownAs(found: StoredRecord | Tombstone | UnreadableRecord): PublishedMedia | 'gone' | UnreadableRecord {
  if (found instanceof UnreadableRecord) return found;
  if (isTombstone(found)) return 'gone';
  return ofKnownType(found) ?? new UnreadableRecord('record of an unknown type');
}

/**
 * Whether the media of a record is not in the store, which is an alarm unless it was taken down just now.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function isMediaGone(
  { id, mediaKey }: PublishedMedia,
  sources: MediaSources,
  signal: AbortSignal,
): Promise<boolean> {
  if (await sources.store.exists(mediaObjectKey(mediaKey))) return false;
  const isTakenDown = (await findPublished(sources, id, signal)) === 'gone';
  if (!isTakenDown) sources.events.mediaMissing(id, mediaKey);
  return true;
}

/** A record as one of media whose type we know; undefined for that of another. */
export function ofKnownType(record: StoredRecord): PublishedMedia | undefined {
  const type = mediaTypes.find((known) => known === record.type);
  return type && { ...record, type };
}
