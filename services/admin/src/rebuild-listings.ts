import { removeDeadEntries } from '@echodrop/archive/check-entry';
import { listRecords } from '@echodrop/archive/every-record';
import { addToListings, listingEntryOf, removeFromListings } from '@echodrop/archive/listing';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { Failing } from './failing.ts';

/** Writes the entries of every record anew, and takes away those that list nothing; others that are there stay. @throws StoreUnavailable; Failing at the end where a record cannot be read */
export async function* rebuildListings(store: ObjectStore): AsyncGenerator<string> {
  let entered = 0;
  let unreadable = 0;
  let struck = 0;
  for await (const { id, found } of listRecords(store)) {
    if (found instanceof UnreadableRecord) {
      unreadable += 1;
      yield `${id}: the record cannot be read`;
    } else if (isTombstone(found)) {
      await removeFromListings(store, found);
    } else {
      await addToListings(store, listingEntryOf(found));
      entered += 1;
    }
  }
  for await (const _ of removeDeadEntries(store)) struck += 1;
  if (struck > 0) yield `${struck} entries listed nothing, and were taken away.`;
  yield `${entered} uploads are listed.`;
  if (unreadable > 0) throw new Failing(`${unreadable} records cannot be read`);
}
