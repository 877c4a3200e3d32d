import { describeUnreadable } from '@echodrop/archive/describe-unreadable';
import { listNewest } from '@echodrop/archive/listing';
import { type Owner, ownerHash } from '@echodrop/archive/owner';
import { rebuildListings } from '@echodrop/archive/rebuild-listings';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoredRecord } from '@echodrop/record';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { CommandFailed } from './command-context.ts';
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
    owner: owner && ownerHash(owner),
    after,
    limit,
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
  const screenName = quoteForTerminal(user.screenName);
  const caption = quoteForTerminal(text);
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

/** Runs `rebuildListings` and yields a line for each unreadable record. @throws StoreUnavailable; CommandFailed at the end if a record is unreadable */
export async function* rebuildAndReport(store: ObjectStore): AsyncGenerator<string> {
  const count = { listed: 0, added: 0, stale: 0, unreadable: 0 };
  try {
    for await (const rebuilt of rebuildListings(store)) {
      count[rebuilt.kind] += 1;
      if (rebuilt.problem !== undefined) yield rebuilt.problem;
    }
  } catch (error) {
    yield `Not finished: added ${count.added} uploads to the listings, deleted ${count.stale} stale entries. Repeat the command to finish.`;
    throw error;
  }
  const { listed, added, stale, unreadable } = count;
  yield `Checked ${listed + added} uploads: added ${added} to the listings, deleted ${stale} stale entries.`;
  if (unreadable > 0) throw new CommandFailed(`${unreadable} records are unreadable.`);
}
