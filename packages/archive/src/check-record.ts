import { mediaObjectKey, recordKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { checkBytes } from './check-bytes.ts';
import { findListedRecord, idInRecordKey } from './every-record.ts';
import { listingEntryOf, listingKeys } from './listing.ts';
import type { StoreFault } from './store-finding.ts';

/** How closely media is looked at. */
export interface CheckDepth {
  /** The media came from another kind of store: it has a tag that no record knows. */
  readonly isMoved: boolean;
  /** All bytes of all media are read. */
  readonly readsBytes: boolean;
}

/** What an upload or a removal may take for what it does after it has written the record: entries, media. */
export const settlingMs = 60_000;

/**
 * What is wrong with the record at `key`, its media and its entries. What is found is looked for a second time.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function checkRecord(
  store: ObjectStore,
  key: string,
  closeness: CheckDepth,
  signal: AbortSignal,
): Promise<StoreFault[]> {
  const id = idInRecordKey(key);
  if (id === undefined) return [{ fault: 'no_record', key }];
  const faults = await looked(store, id, closeness, signal);
  return faults.length > 0 ? looked(store, id, closeness, signal) : faults;
}

async function looked(store: ObjectStore, id: string, closeness: CheckDepth, signal: AbortSignal) {
  const found = await findListedRecord(store, id, signal);
  const key = recordKey(id);
  if (found instanceof UnreadableRecord) return [{ fault: 'record_unreadable', key, why: found.message } as const];
  if (found.id !== id) return [{ fault: 'record_misplaced', key, id: found.id } as const];
  if (isTombstone(found)) return removalFaults(store, found);
  return [...(await mediaFaults(store, found, closeness, signal)), ...(await listingFaults(store, found))];
}

async function mediaFaults(
  store: ObjectStore,
  record: StoredRecord,
  { isMoved, readsBytes }: CheckDepth,
  signal: AbortSignal,
): Promise<StoreFault[]> {
  const { id, size, etag } = record;
  const key = mediaObjectKey(record.mediaKey);
  const media = await store.stat(key);
  if (!media) return [{ fault: 'media_missing', key, id }];
  if (media.size !== size) return [{ fault: 'media_of_other_size', key, id, recorded: size, stored: media.size }];
  if (media.etag !== etag && !isMoved)
    return [{ fault: 'media_of_other_tag', key, id, recorded: etag, stored: media.etag }];
  const why = readsBytes ? await checkBytes(store, key, record, signal) : undefined;
  return why === undefined ? [] : [{ fault: 'media_spoiled', key, id, why }];
}

async function listingFaults(store: ObjectStore, record: StoredRecord): Promise<StoreFault[]> {
  if (Date.now() - record.timestamp.getTime() < settlingMs) return [];
  const entries = await Promise.all(
    listingKeys(listingEntryOf(record)).map(async (key) => ({ key, entry: await store.stat(key) })),
  );
  return entries.filter(({ entry }) => !entry).map(({ key }) => ({ fault: 'not_listed', key, id: record.id }));
}

async function removalFaults(store: ObjectStore, { id, mediaKey, removed }: Tombstone): Promise<StoreFault[]> {
  if (Date.now() - removed.at.getTime() < settlingMs) return [];
  const media = await store.stat(mediaObjectKey(mediaKey));
  const renditions = await store.list(renditionsPrefixOf(mediaKey), { limit: 1 });
  const [left] = [...(media ? [media] : []), ...renditions];
  return left ? [{ fault: 'removal_unfinished', key: left.key, id }] : [];
}
