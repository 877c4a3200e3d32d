import { removeDeadEntries } from '@echodrop/archive/check-entry';
import { addToListings, listNewest, removeFromListings } from '@echodrop/archive/listing';
import { listingEntryOf } from '@echodrop/archive/listing-keys';
import { type Owner, ownerHash } from '@echodrop/archive/owner';
import { listRecords } from '@echodrop/archive/records';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { CommandFailed } from './command-context.ts';
import { describeUnreadable } from './describe-unreadable.ts';
import { quoteName } from './name-arguments.ts';

interface Page {
  readonly owner?: Owner | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Lists the newest uploads, a line each, and the cursor of the next page. @throws StoreUnavailable; RangeError if `after` is not a cursor; CommandFailed at the end if a record is unreadable */
export async function* listUploads(store: ObjectStore, { owner, after, limit }: Page): AsyncGenerator<string> {
  const unreadable: string[] = [];
  const { records, next } = await listNewest(store, {
    ...{ owner: owner && ownerHash(owner), after, limit },
    unreadable: (id, error) => unreadable.push(`${id}: ${describeUnreadable(id, error)}`),
  });
  yield* records.length === 0 ? ['No uploads.'] : alignColumns([columns, ...records.map(rowOf)]);
  yield* unreadable;
  if (next !== undefined) yield `More uploads: --after ${next}`;
  if (unreadable.length > 0) throw new CommandFailed(`${unreadable.length} records are unreadable.`);
}

const columns = ['published', 'id', 'type', 'bytes', 'user', 'provider', 'subject', 'application', 'caption'];

function rowOf({ id, timestamp, type, size, application, text, user, provider, subject }: StoredRecord): string[] {
  const names = [provider, subject, application].map(quoteName);
  const [screenName, caption] = [quoteForTerminal(user.screenName), quoteForTerminal(text)];
  return [timestamp.toISOString(), id, type, String(size), screenName, ...names, caption];
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Adds missing listing entries of every record, and deletes entries without a published upload. @throws StoreUnavailable; CommandFailed at the end if a record is unreadable */
export async function* rebuildListings(store: ObjectStore): AsyncGenerator<string> {
  const count = { uploads: 0, added: 0, deleted: 0 };
  let unreadable = 0;
  for await (const { id, found } of listRecords(store)) {
    if (found instanceof UnreadableRecord) {
      unreadable += 1;
      yield `${id}: ${describeUnreadable(id, found)}`;
    } else if (isTombstone(found)) {
      await removeFromListings(store, found);
    } else {
      count.uploads += 1;
      if (await addToListings(store, listingEntryOf(found))) count.added += 1;
    }
  }
  for await (const _ of removeDeadEntries(store)) count.deleted += 1;
  yield `Checked ${count.uploads} uploads: added ${count.added} to the listings, deleted ${count.deleted} entries without an upload.`;
  if (unreadable > 0) throw new CommandFailed(`${unreadable} records are unreadable.`);
}
