import { listKeys } from '@echodrop/object-store/list-objects';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { KeySet } from './key-set.ts';
import { flatListingKeys, type ListingEntry, listingPrefixes, parseListingKey } from './listing-keys.ts';

/** A set of listing entries, in either form. */
export class ListingIndex {
  // These entries have the form of release 0.1.0, which has no folders.
  readonly #flatKeys = new KeySet();

  /** Adds both entries of a record. */
  addRecord(entry: ListingEntry): void {
    for (const key of flatListingKeys(entry)) this.#flatKeys.add(key);
  }

  /** Adds the entry at `key`, if `key` is the key of an entry. */
  addKey(key: string): void {
    const flat = flatKeyOf(key);
    if (flat !== undefined) this.#flatKeys.add(flat);
  }

  /** Whether both entries of a record are in the set. */
  hasRecord(entry: ListingEntry): boolean {
    return flatListingKeys(entry).every((key) => this.#flatKeys.has(key));
  }

  hasKey(key: string): boolean {
    const flat = flatKeyOf(key);
    return flat !== undefined && this.#flatKeys.has(flat);
  }
}

/** Takes a snapshot of all listing entries; `withoutFlat` leaves out what release 0.1.0 wrote. @throws StoreUnavailable */
export async function readListingIndex(store: ObjectStore, { withoutFlat = false } = {}): Promise<ListingIndex> {
  const index = new ListingIndex();
  for (const prefix of listingPrefixes) {
    for await (const key of listKeys(store, prefix))
      if (!withoutFlat || !parseListingKey(key)?.isFlat) index.addKey(key);
  }
  return index;
}

function flatKeyOf(key: string): string | undefined {
  const entry = parseListingKey(key);
  return entry && `${entry.prefix}${entry.name}`;
}
