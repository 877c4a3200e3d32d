import { mediaObjectKey, recordKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { checkBytes } from './check-bytes.ts';
import { missingListingKeys } from './listing.ts';
import type { ListingIndex } from './listing-index.ts';
import { listingEntryOf } from './listing-keys.ts';
import { findListedRecord, idInRecordKey } from './records.ts';
import { isSettling } from './settling.ts';
import type { StoreFault } from './store-finding.ts';

export interface CheckDepth {
  /** Ignores tags: media was copied from another kind of store, which assigns other tags. */
  readonly isMoved: boolean;
  /** Reads all bytes of all media. */
  readonly shouldReadBytes: boolean;
}

/** What checks of records share. */
export interface RecordChecks extends CheckDepth {
  /** A snapshot of the listing entries. */
  readonly listings: ListingIndex;
  /** Collects the entries that records have. */
  readonly published: ListingIndex;
  readonly signal: AbortSignal;
}

/** Checks the record at `key`, its media and its listing entries; repeats the check to confirm faults. @throws StoreUnavailable, or the signal's reason */
export async function checkRecord(store: ObjectStore, key: string, checks: RecordChecks): Promise<StoreFault[]> {
  const id = idInRecordKey(key);
  if (id === undefined) return [{ fault: 'no_record', key }];
  const faults = await check(store, id, checks);
  return faults.length > 0 ? check(store, id, checks) : faults;
}

async function check(store: ObjectStore, id: string, checks: RecordChecks) {
  const found = await findListedRecord(store, id, checks.signal);
  const key = recordKey(id);
  if (found instanceof UnreadableRecord) return [{ fault: 'record_unreadable', key, id, error: found } as const];
  if (isTombstone(found)) return removalFaults(store, found);
  checks.published.addRecord(listingEntryOf(found));
  return [...(await mediaFaults(store, found, checks)), ...(await listingFaults(store, found, checks))];
}

async function mediaFaults(
  store: ObjectStore,
  record: StoredRecord,
  { isMoved, shouldReadBytes, signal }: RecordChecks,
): Promise<StoreFault[]> {
  const { id, size, etag } = record;
  const key = mediaObjectKey(record.mediaKey);
  const media = await store.stat(key);
  if (!media) return [{ fault: 'media_missing', key, id }];
  if (media.size !== size) return [{ fault: 'media_of_other_size', key, id, recorded: size, stored: media.size }];
  if (media.etag !== etag && !isMoved)
    return [{ fault: 'media_of_other_tag', key, id, recorded: etag, stored: media.etag }];
  const why = shouldReadBytes ? await checkBytes(store, key, record, signal) : undefined;
  return why === undefined ? [] : [{ fault: 'media_spoiled', key, id, why }];
}

async function listingFaults(
  store: ObjectStore,
  record: StoredRecord,
  { listings }: RecordChecks,
): Promise<StoreFault[]> {
  const entry = listingEntryOf(record);
  if (isSettling(record.timestamp) || listings.hasRecord(entry)) return [];
  const missing = await missingListingKeys(store, entry);
  return missing.map((key) => ({ fault: 'not_listed', key, id: record.id }));
}

async function removalFaults(store: ObjectStore, { id, mediaKey, removed }: Tombstone): Promise<StoreFault[]> {
  if (isSettling(removed.at)) return [];
  const media = await store.stat(mediaObjectKey(mediaKey));
  const renditions = await store.listKeys(renditionsPrefixOf(mediaKey), { limit: 1 });
  const [key] = [...(media ? [media.key] : []), ...renditions];
  return key === undefined ? [] : [{ fault: 'removal_unfinished', key, id }];
}
