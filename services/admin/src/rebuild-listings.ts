import { everyRecord } from '@echodrop/archive/every-record';
import { enter, listedAs, strike } from '@echodrop/archive/listing';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { Failing } from './failing.ts';

/** Writes the entries of every record anew, and takes away those of removed ones; those that are there stay. @throws StoreUnavailable; Failing at the end where a record cannot be read */
export async function* rebuildListings(store: ObjectStore): AsyncGenerator<string> {
  let entered = 0;
  let unreadable = 0;
  for await (const { id, found } of everyRecord(store)) {
    if (found instanceof UnreadableRecord) {
      unreadable += 1;
      yield `${id}: the record cannot be read`;
    } else if (found && isTombstone(found)) {
      await strike(store, found);
    } else if (found) {
      await enter(store, listedAs(found));
      entered += 1;
    }
  }
  yield `${entered} uploads are listed.`;
  if (unreadable > 0) throw new Failing(`${unreadable} records cannot be read`);
}
