import { mediaObjectKey, recordKey, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { checkBytes } from './check-bytes.ts';
import { describeUnreadable } from './describe-unreadable.ts';
import { missingListingKeys } from './listing.ts';
import type { ListingIndex } from './listing-index.ts';
import { listingEntryOf } from './listing-keys.ts';
import { findListedRecord, idInRecordKey } from './records.ts';
import { isSettling } from './settling.ts';

/** A difference between records and what the store has, or what an upload has left. */
export interface StoreFinding {
  /** Key of the object concerned. */
  readonly key: string;
  /** The kind of the finding. An `orphan` is no fault. `unsearched`: no orphan is certain. */
  readonly kind: 'fault' | 'orphan' | 'unsearched';
  /** What was found, and what to do about it. */
  readonly text: string;
}

export interface CheckDepth {
  /** Ignores tags: media was copied from another kind of store, which assigns other tags. */
  readonly isMoved: boolean;
  /** Reads all bytes of all media. */
  readonly shouldReadBytes: boolean;
}

/** What checks of records share. */
interface RecordChecks extends CheckDepth {
  /** A snapshot of the listing entries. */
  readonly listings: ListingIndex;
  /** Collects the entries that records have. */
  readonly published: ListingIndex;
}

/** Checks the record at `key`, its media and its listing entries; repeats the check to confirm faults. @throws StoreUnavailable */
export async function checkRecord(store: ObjectStore, key: string, checks: RecordChecks): Promise<StoreFinding[]> {
  const id = idInRecordKey(key);
  if (id === undefined)
    return [faultOf(key, 'not a record, but stored among the records. Delete it, or move it elsewhere.')];
  const faults = await check(store, id, checks);
  return faults.length > 0 ? check(store, id, checks) : faults;
}

export function faultOf(key: string, text: string): StoreFinding {
  return { key, kind: 'fault', text };
}

async function check(store: ObjectStore, id: string, checks: RecordChecks): Promise<StoreFinding[]> {
  const found = await findListedRecord(store, id);
  if (found instanceof UnreadableRecord) return [faultOf(recordKey(id), describeUnreadable(id, found))];
  if (isTombstone(found)) return removalFaults(store, found);
  checks.published.addRecord(listingEntryOf(found));
  return [...(await mediaFaults(store, found, checks)), ...(await listingFaults(store, found, checks))];
}

async function mediaFaults(
  store: ObjectStore,
  record: StoredRecord,
  { isMoved, shouldReadBytes }: RecordChecks,
): Promise<StoreFinding[]> {
  const { id, size, etag } = record;
  const key = mediaObjectKey(record.mediaKey);
  const fault = (text: string) => [faultOf(key, `media of ${id} ${text}`)];
  const media = await store.stat(key);
  if (!media) return fault(`is missing. Restore it from a backup, or delete the upload: remove ${id}`);
  if (media.size !== size) return fault(`has ${media.size} bytes; its record says ${size}. Restore it from a backup.`);
  if (media.etag !== etag && !isMoved)
    return fault(
      `has the tag ${shownTag(media.etag)}; its record says ${shownTag(etag)}. If it was copied from another store, ` +
        'use --moved; otherwise restore it from a backup.',
    );
  const why = shouldReadBytes ? await checkBytes(store, key, record) : undefined;
  return why === undefined ? [] : fault(`is corrupt (${why}). Restore it from a backup.`);
}

// The tag in a record may be any text.
function shownTag(tag: string): string {
  return /^[\w-]{1,80}$/.test(tag) ? tag : quoteForTerminal(tag);
}

async function listingFaults(
  store: ObjectStore,
  record: StoredRecord,
  { listings }: RecordChecks,
): Promise<StoreFinding[]> {
  const entry = listingEntryOf(record);
  if (isSettling(record.timestamp) || listings.hasRecord(entry)) return [];
  const missing = await missingListingKeys(store, entry);
  return missing.map((key) => faultOf(key, `listing entry of ${record.id} is missing. Run rebuild-listings.`));
}

async function removalFaults(store: ObjectStore, { id, mediaKey, removed }: Tombstone): Promise<StoreFinding[]> {
  if (isSettling(removed.at)) return [];
  const media = await store.stat(mediaObjectKey(mediaKey));
  const renditions = await store.listKeys(renditionsPrefixOf(mediaKey), { limit: 1 });
  const [key] = [...(media ? [media.key] : []), ...renditions];
  return key === undefined ? [] : [faultOf(key, `left by an unfinished deletion of ${id}. Finish it: remove ${id}`)];
}
