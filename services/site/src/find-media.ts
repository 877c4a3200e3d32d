import { buffer } from 'node:stream/consumers';
import { type MediaType, mediaTypes } from '@echodrop/media/media-type';
import { recordObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { decodeStoredRecord, isMediaId, type StoredRecord, UnreadableRecord } from '@echodrop/record';

/** A record of media whose type we know. */
export interface PublishedMedia extends StoredRecord {
  readonly type: MediaType;
}

/**
 * The record of `id`, or undefined when there is none or `id` has no media id's shape: no other text ever becomes a key.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function findMedia(
  store: ObjectStore,
  id: string,
  signal: AbortSignal,
): Promise<PublishedMedia | undefined> {
  if (!isMediaId(id)) return undefined;
  const reading = await store.read(recordObject(id), { signal });
  return reading && published(decodeStoredRecord(await buffer(reading.body)));
}

function published(record: StoredRecord): PublishedMedia {
  const type = mediaTypes.find((known) => known === record.type);
  if (!type) throw new UnreadableRecord('record of an unknown type');
  return { ...record, type };
}
