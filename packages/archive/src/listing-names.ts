import {
  type KeyPage,
  type ListPage,
  maxListLength,
  type ObjectStore,
  StoreUnavailable,
} from '@echodrop/object-store/object-store';
import { daysPrefix, listingKey, parseListingKey } from './listing-keys.ts';

// This bounds the work for names of other programs, such as the `._` files of macOS.
const maxLists = 10;

/**
 * The names of the entries of a listing after the name `after`, at most `limit`, in order; fewer if there are many names of other programs.
 * Merges the entries in folders of days with those of release 0.1.0, which `rebuild-listings` moves. `isLast` if there are no others.
 * @throws StoreUnavailable, also if the next entry comes after thousands of names of other programs
 */
export async function namesAfter(
  store: Pick<ObjectStore, 'listKeys'>,
  prefix: string,
  { after, limit }: ListPage,
): Promise<{ names: string[]; isLast: boolean }> {
  const lists = await Promise.all([
    namesIn(store, daysPrefix(prefix), { after: after && listingKey(prefix, after), limit }),
    // The entries in folders are left out.
    namesIn(store, prefix, { after: after && `${prefix}${after}`, limit, folders: true }),
  ]);
  // What comes after the end of a list that is not the last is unknown.
  const ends = lists.flatMap(({ names, isLast }) => (isLast ? [] : names.slice(-1)));
  const known = new Set(lists.flatMap(({ names }) => names).filter((name) => ends.every((end) => name <= end)));
  const isLast = known.size <= limit && ends.length === 0;
  return { names: [...known].sort().slice(0, limit), isLast };
}

/** The names of the entries among the keys of `page`: at least `limit` unless there are no others, or many names of other programs. */
async function namesIn(store: Pick<ObjectStore, 'listKeys'>, prefix: string, { after, limit, folders }: KeyPage) {
  const names: string[] = [];
  let last = after;
  for (let lists = 0; lists < maxLists; lists += 1) {
    // The first list suffices, unless it has names of other programs.
    const length = lists === 0 ? limit : maxListLength;
    const keys = await store.listKeys(prefix, { after: last, limit: length, folders });
    names.push(...keys.flatMap((key) => parseListingKey(key)?.name ?? []));
    if (keys.length < length) return { names, isLast: true };
    if (names.length >= limit) return { names, isLast: false };
    last = keys.at(-1);
  }
  if (names.length === 0) throw new StoreUnavailable(`too many objects of other programs below ${prefix}`);
  return { names, isLast: false };
}
