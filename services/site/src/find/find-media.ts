import { tryFindRecord } from '@echodrop/archive/records';
import { type MediaType, mediaTypes } from '@echodrop/media/detect-media-type';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import type { SiteEvents } from '../events.ts';
import type { ReadMemory } from './read-memory.ts';

/** A record whose type is known. */
export interface PublishedMedia extends StoredRecord {
  readonly type: MediaType;
}

/** `not_found`: no such record, or not a media id. `gone`: removed, or the media is missing. */
export type NoMedia = 'not_found' | 'gone';

export interface MediaSources {
  readonly store: ObjectStore;
  readonly memory: ReadMemory;
  readonly events: Pick<SiteEvents, 'mediaMissing' | 'recordUnreadable'>;
  /** Aborted when the reader leaves. */
  readonly signal: AbortSignal;
}

/** Finds the record of `id` and checks that its media exists. @throws StoreUnavailable, UnreadableRecord, or the signal's reason */
export async function findMedia(sources: MediaSources, id: string): Promise<PublishedMedia | NoMedia> {
  const found = await findPublished(sources, id);
  if (typeof found === 'string') return found;
  return (await isMediaGone(found, sources)) ? 'gone' : found;
}

/** Finds the record of `id` without a check of its media. @throws StoreUnavailable, UnreadableRecord, or the signal's reason */
export async function findPublished(sources: MediaSources, id: string): Promise<PublishedMedia | NoMedia> {
  const read = (cancelled: AbortSignal) => readPublished(sources, id, cancelled);
  return sources.memory.find(recordMemoryKey(id), sources.signal, read, (found) =>
    // An upload may be published at any time.
    found === 'not_found' ? undefined : textBytesOf(found),
  );
}

async function readPublished(
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
export async function isMediaGone({ id, mediaKey }: PublishedMedia, sources: MediaSources): Promise<boolean> {
  const { store, memory, signal } = sources;
  const key = mediaObjectKey(mediaKey);
  const exists = await memory.find(
    key,
    signal,
    () => store.exists(key),
    (found) => (found ? 0 : undefined),
  );
  if (exists) return false;
  memory.forget(recordMemoryKey(id));
  const isRemoved = (await findPublished(sources, id)) === 'gone';
  if (!isRemoved) sources.events.mediaMissing(id, mediaKey);
  return true;
}

/** Forgets that a record and its media were found, since something that belongs to them is missing. */
export function forgetMedia(
  { id, mediaKey }: Pick<PublishedMedia, 'id' | 'mediaKey'>,
  { memory }: Pick<MediaSources, 'memory'>,
): void {
  memory.forget(recordMemoryKey(id), mediaObjectKey(mediaKey));
}

function recordMemoryKey(id: string): string {
  return `record ${id}`;
}

/** The memory that a record takes, about. V8 takes up to two bytes for a character. */
export function textBytesOf(found: StoredRecord | 'gone'): number {
  const texts = Object.values(found).filter((value) => typeof value === 'string');
  return texts.reduce((sum, { length }) => sum + 2 * length, 1024);
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
