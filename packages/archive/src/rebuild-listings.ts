import { recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { removeDeadEntries } from './check-entry.ts';
import { addToListings } from './listing.ts';
import { ListingIndex, readListingIndex } from './listing-index.ts';
import { listingEntryOf, listingPrefixes } from './listing-keys.ts';
import { type FoundRecord, listRecords, RecordNotFound } from './records.ts';

/** What a rebuild lists, in order. */
export const listsOfRebuild = [[...listingPrefixes.toReversed(), recordsPrefix, ...listingPrefixes]];

const concurrency = 16;

/** What a rebuild did with a record or an entry. */
export type Rebuilt =
  | { readonly kind: 'listed' | 'added' | 'stale' }
  | { readonly kind: 'unreadable'; readonly id: string; readonly error: UnreadableRecord };

/**
 * Adds the missing listing entries of every record, then deletes entries without a published upload, and those of release 0.1.0, whose
 * successors exist by then. @throws StoreUnavailable
 */
export async function* rebuildListings(store: ObjectStore): AsyncGenerator<Rebuilt> {
  const listings = await readListingIndex(store, { withoutFlat: true });
  const relisted = new ListingIndex();
  const lost = new Set<string>();
  const relist = async ({ id, found }: FoundRecord): Promise<Rebuilt | undefined> => {
    if (found instanceof RecordNotFound) lost.add(id);
    if (found instanceof UnreadableRecord) return { kind: 'unreadable', id, error: found };
    if (isTombstone(found)) return undefined;
    const entry = listingEntryOf(found);
    const isAdded = !listings.hasRecord(entry) && (await addToListings(store, entry));
    relisted.addRecord(entry);
    return { kind: isAdded ? 'added' : 'listed' };
  };
  for await (const rebuilt of pMapIterable(listRecords(store), relist, { concurrency })) if (rebuilt) yield rebuilt;
  for await (const _ of removeDeadEntries(store, { relisted, lost })) yield { kind: 'stale' };
}
