import { listObjects } from '@echodrop/object-store/list-objects';
import { recordsPrefix, renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { type ListingEntry, listingEntryOf } from './listing-keys.ts';
import { listMedia, listRenditionFolders } from './media-keys-in-store.ts';
import { findListedRecord, idInRecordKey } from './records.ts';
import { isSuspicious } from './records-missing.ts';

interface RecentOptions {
  /** A sweep has judged all media that was written before this time. In milliseconds, by the store's clock. */
  readonly judgedBefore: number;
  /** What is younger is not to be deleted yet. */
  readonly oldBefore: number;
  /** Called with the entry of each record that was published since then. */
  readonly visit: (entry: ListingEntry) => void;
  readonly signal: AbortSignal;
}

const concurrency = 16;
// The clocks of the store's nodes may differ, and a record may be written a minute after its media.
const marginMs = 3_600_000;

/**
 * Whether a sweep might delete media or renditions. Lists records, media and folders of renditions, and reads only the records written since the
 * last sweep: media has its record soon, and published media becomes an orphan only if its record is replaced. If in doubt, true.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function mayHaveOrphans(store: ObjectStore, options: RecentOptions): Promise<boolean> {
  const { published, removed, records, isUnreadable } = await readRecentRecords(store, options);
  if (isUnreadable) return true;
  const since = options.judgedBefore - marginMs;
  const isOld = ({ writtenAt }: ListedObject) => writtenAt.getTime() < options.oldBefore;
  const isCandidate = (mediaKey: string, object: ListedObject) =>
    removed.has(mediaKey) || (object.writtenAt.getTime() >= since && isOld(object) && !published.has(mediaKey));
  const hasOldRendition = async (mediaKey: string) => {
    for await (const object of listObjects(store, renditionsPrefixOf(mediaKey)))
      if (removed.has(mediaKey) || isOld(object)) return true;
    return false;
  };
  // Renditions first: media exists before them.
  const folders = listRenditionFolders(store);
  let folder = await folders.next();
  let keys = 0;
  for await (const { mediaKey, object } of listMedia(store)) {
    options.signal.throwIfAborted();
    keys += 1;
    if (isCandidate(mediaKey, object)) return true;
    for (; !folder.done && folder.value <= mediaKey; folder = await folders.next())
      if (folder.value < mediaKey && (await hasOldRendition(folder.value))) return true;
  }
  for (; !folder.done; folder = await folders.next()) if (await hasOldRendition(folder.value)) return true;
  return isSuspicious(keys - records, keys, records > 0);
}

async function readRecentRecords(store: ObjectStore, { judgedBefore, visit, signal }: RecentOptions) {
  const published = new Set<string>();
  const removed = new Set<string>();
  let records = 0;
  let isUnreadable = false;
  async function* recentIds() {
    for await (const { key, writtenAt } of listObjects(store, recordsPrefix)) {
      signal.throwIfAborted();
      const id = idInRecordKey(key);
      if (id === undefined) continue;
      records += 1;
      if (writtenAt.getTime() >= judgedBefore - marginMs) yield id;
    }
  }
  for await (const found of pMapIterable(recentIds(), (id) => findListedRecord(store, id, signal), { concurrency })) {
    if (found instanceof UnreadableRecord) isUnreadable = true;
    else if (isTombstone(found)) removed.add(found.mediaKey);
    else {
      published.add(found.mediaKey);
      visit(listingEntryOf(found));
    }
  }
  return { published, removed, records, isUnreadable };
}
