import { listObjects } from '@echodrop/object-store/list-objects';
import { recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { settlingMs } from './check-record.ts';
import { tryFindRecord } from './find-record.ts';
import { idInListingKey, listingEntryOf, listingKeys, listingPrefixes, timeInListingKey } from './listing.ts';
import type { StoreFault } from './store-finding.ts';

const lookedAtOnce = 16;

/** What is wrong with the entry at `key`: it lists what is not published, or not under this name. @throws StoreUnavailable, or the signal's reason */
export async function checkEntry(store: ObjectStore, key: string, signal: AbortSignal): Promise<StoreFault[]> {
  if (await isEntryOfRecord(store, key, signal)) return [];
  // It may have been taken away with its record.
  return (await store.stat(key)) ? [{ fault: 'lists_nothing', key }] : [];
}

/** Takes every entry away that lists nothing, and gives its key. @throws StoreUnavailable */
export async function* removeDeadEntries(store: ObjectStore): AsyncGenerator<string> {
  for (const prefix of listingPrefixes) {
    const looked = async ({ key }: ListedObject) => ({ key, isAlive: await isEntryOfRecord(store, key) });
    const entries = pMapIterable(listObjects(store, prefix), looked, { concurrency: lookedAtOnce });
    for await (const { key, isAlive } of entries) {
      if (isAlive) continue;
      await store.remove(key);
      yield key;
    }
  }
}

/** Whether an entry at `key` lists a record, as far as can be read; also that of a removal that runs. @throws StoreUnavailable, or the signal's reason */
export async function isEntryOfRecord(store: ObjectStore, key: string, signal?: AbortSignal): Promise<boolean> {
  const id = idInListingKey(key);
  const found = id === undefined ? undefined : await tryFindRecord(store, id, signal);
  // An upload writes entries beside its record, and may still be trying to write that.
  if (!found) return id !== undefined && (isRecent(key) || (await isListed(store, recordKey(id))));
  if (found instanceof UnreadableRecord) return true;
  if (isTombstone(found)) return Date.now() - found.removed.at.getTime() < settlingMs;
  return listingKeys(listingEntryOf(found)).includes(key);
}

// What is listed and not found may be found again in a moment (findListedRecord).
async function isListed(store: ObjectStore, record: string): Promise<boolean> {
  const [first] = await store.list(recordsPrefix, { after: record.slice(0, -1), limit: 1 });
  return first?.key === record;
}

function isRecent(key: string): boolean {
  return Date.now() - timeInListingKey(key) < settlingMs;
}
