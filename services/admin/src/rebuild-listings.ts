import { removeDeadEntries } from '@echodrop/archive/check-entry';
import { addToListings, listingEntryOf, removeFromListings } from '@echodrop/archive/listing';
import { listRecords } from '@echodrop/archive/records';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { CommandFailed } from './command-failed.ts';

/** Writes missing list entries of every record, and removes entries without a published upload. @throws StoreUnavailable; CommandFailed at the end if a record is unreadable */
export async function* rebuildListings(store: ObjectStore): AsyncGenerator<string> {
  let listed = 0;
  let unreadable = 0;
  for await (const { id, found } of listRecords(store)) {
    if (found instanceof UnreadableRecord) {
      unreadable += 1;
      yield `${id}: record unreadable`;
    } else if (isTombstone(found)) {
      await removeFromListings(store, found);
    } else {
      await addToListings(store, listingEntryOf(found));
      listed += 1;
    }
  }
  const removed = await Array.fromAsync(removeDeadEntries(store), () => 1);
  if (removed.length > 0) yield `Removed ${removed.length} entries without an upload.`;
  yield `Listed ${listed} uploads.`;
  if (unreadable > 0) throw new CommandFailed(`${unreadable} records are unreadable.`);
}
