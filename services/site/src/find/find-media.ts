import { tryFindRecord } from '@echodrop/archive/records';
import { type MediaType, mediaTypes } from '@echodrop/media/detect-media-type';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import type { SiteEvents } from '../events.ts';

/** A record whose type is known. */
export interface PublishedMedia extends StoredRecord {
  readonly type: MediaType;
}

/** `not_found`: no such record, or not a media id. `gone`: removed, or the media is missing. */
export type NoMedia = 'not_found' | 'gone';

export interface MediaSources {
  readonly store: ObjectStore;
  readonly events: Pick<SiteEvents, 'mediaMissing' | 'recordUnreadable'>;
}

/** Finds the record of `id` and checks that its media exists. @throws StoreUnavailable, UnreadableRecord, or the signal's reason */
export async function findMedia(
  sources: MediaSources,
  id: string,
  signal: AbortSignal,
): Promise<PublishedMedia | NoMedia> {
  const found = await findPublished(sources, id, signal);
  if (typeof found === 'string') return found;
  return (await isMediaGone(found, sources, signal)) ? 'gone' : found;
}

/** Finds the record of `id` without a check of its media. @throws StoreUnavailable, UnreadableRecord, or the signal's reason */
export async function findPublished(
  { store, events }: MediaSources,
  id: string,
  signal: AbortSignal,
): Promise<PublishedMedia | NoMedia> {
  const found = await tryFindRecord(store, id, signal);
  if (found === undefined) return 'not_found';
  const isUnreadable = found instanceof UnreadableRecord;
  if (!isUnreadable && isTombstone(found)) return 'gone';
  const media = isUnreadable ? undefined : withKnownType(found);
  if (media) return media;
  const error = isUnreadable ? found : unknownType(found);
  events.recordUnreadable(id, error);
  throw error;
}

/** Whether the media of a record is missing, which is reported unless it was just removed. @throws StoreUnavailable, UnreadableRecord, or the signal's reason */
export async function isMediaGone(
  { id, mediaKey }: PublishedMedia,
  sources: MediaSources,
  signal: AbortSignal,
): Promise<boolean> {
  if (await sources.store.exists(mediaObjectKey(mediaKey))) return false;
  const isRemoved = (await findPublished(sources, id, signal)) === 'gone';
  if (!isRemoved) sources.events.mediaMissing(id, mediaKey);
  return true;
}

/** What a record of a type that this release does not know counts as. */
export function unknownType({ type }: StoredRecord): UnreadableRecord {
  return new UnreadableRecord(`unknown type ${type}`);
}

/** Narrows a record's type; undefined if it is unknown. */
export function withKnownType(record: StoredRecord): PublishedMedia | undefined {
  const type = mediaTypes.find((known) => known === record.type);
  return type && { ...record, type };
}
