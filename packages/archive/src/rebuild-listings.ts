import { listKeys } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { isEntryOfRecord } from './check-entry.ts';
import { describeUnreadable } from './describe-unreadable.ts';
import { addToListings } from './listing.ts';
import { ListingIndex, readListingIndex } from './listing-index.ts';
import { listingEntryOf, listingPrefixes, parseListingKey } from './listing-keys.ts';
import { type FoundRecord, listRecords, RecordNotFound } from './records.ts';

const concurrency = 16;
// On S3, each entry without a record waits for a second look.
const concurrentLooks = 64;

/** What a rebuild did with a record or an entry. */
interface Rebuilt {
  readonly kind: 'listed' | 'added' | 'stale' | 'unreadable';
  /** Why a record cannot be read, and what to do. */
  readonly problem?: string;
}

/**
 * Adds the missing listing entries of every record, then deletes entries without a published upload, and those of release 0.1.0, whose
 * successors exist by then. @throws StoreUnavailable
 */
export async function* rebuildListings(store: ObjectStore): AsyncGenerator<Rebuilt> {
  const listings = await readListingIndex(store, { withoutFlat: true });
  const relisted = new ListingIndex();
  // The store lists the records of these ids, and does not find them.
  const lost = new Set<string>();
  const relist = async ({ id, found }: FoundRecord): Promise<Rebuilt | undefined> => {
    if (found instanceof RecordNotFound) lost.add(id);
    if (found instanceof UnreadableRecord)
      return { kind: 'unreadable', problem: `${id}: ${describeUnreadable(id, found)}` };
    if (isTombstone(found)) return undefined;
    const entry = listingEntryOf(found);
    const isAdded = !listings.hasRecord(entry) && (await addToListings(store, entry));
    relisted.addRecord(entry);
    return { kind: isAdded ? 'added' : 'listed' };
  };
  const isAlive = async (key: string) => {
    const entry = parseListingKey(key);
    if (entry && lost.has(entry.id)) return true;
    return relisted.hasKey(key) ? !entry?.isFlat : isEntryOfRecord(store, key);
  };
  const removeDead = async (key: string): Promise<Rebuilt | undefined> => {
    if (await isAlive(key)) return undefined;
    await store.remove(key);
    return { kind: 'stale' };
  };
  for await (const rebuilt of pMapIterable(listRecords(store), relist, { concurrency })) if (rebuilt) yield rebuilt;
  for (const prefix of listingPrefixes)
    for await (const removed of pMapIterable(listKeys(store, prefix), removeDead, { concurrency: concurrentLooks }))
      if (removed) yield removed;
}
