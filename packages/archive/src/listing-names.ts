import type { ListPage, ObjectStore } from '@echodrop/object-store/object-store';
import { daysPrefix, listingKey, parseListingKey } from './listing-keys.ts';

/**
 * The names of the entries of a listing after the name `after`, at most `limit`, in order. Merges the entries in folders of days with those of
 * release 0.1.0, which `rebuild-listings` moves. `isLast` if there are no others. @throws StoreUnavailable
 */
export async function namesAfter(
  store: Pick<ObjectStore, 'listKeys'>,
  prefix: string,
  { after, limit }: ListPage,
): Promise<{ names: string[]; isLast: boolean }> {
  const lists = await Promise.all([
    store.listKeys(daysPrefix(prefix), { after: after && listingKey(prefix, after), limit }),
    // Without the entries in folders.
    store.listKeys(prefix, { after: after && `${prefix}${after}`, limit, folders: true }),
  ]);
  const names = lists.map((keys) => keys.flatMap((key) => parseListingKey(key)?.name ?? []));
  // What comes after the end of a full list is unknown.
  const ends = names.flatMap((each, n) => (lists[n]?.length === limit ? each.slice(-1) : []));
  const known = new Set(names.flat().filter((name) => ends.every((end) => name <= end)));
  const isLast = known.size <= limit && lists.every((keys) => keys.length < limit);
  return { names: [...known].sort().slice(0, limit), isLast };
}
