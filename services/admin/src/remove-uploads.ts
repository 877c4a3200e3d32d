import { listRecordsOf } from '@echodrop/archive/every-record';
import { tryFindRecord } from '@echodrop/archive/find-record';
import type { Owner } from '@echodrop/archive/owner';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import type { Audit } from './audit.ts';
import { Failing } from './failing.ts';

// Of what people complain about they send the address.
function idIn(text: string): string {
  if (!URL.canParse(text)) return text;
  return /^\/(?:show\/\w+\/)?(\w{10})(?=[./]|$)/.exec(new URL(text).pathname)?.[1] ?? text;
}

/** Removes the uploads of these ids, or of the pages at these addresses; a line for each. @throws StoreUnavailable; Failing at the end where one was not there or cannot be read */
export async function* removeUploads(store: ObjectStore, ids: readonly string[], audit: Audit): AsyncGenerator<string> {
  let failed = 0;
  for (const id of ids.map(idIn)) {
    const found = await tryFindRecord(store, id);
    if (found && !(found instanceof UnreadableRecord)) yield await removed(store, found, audit);
    else {
      failed += 1;
      yield found ? `${id}: the record cannot be read` : `${id}: there is no such upload`;
    }
  }
  if (failed > 0) throw new Failing(`${failed} of ${ids.length} were not removed`);
}

/**
 * Removes everything of one user, whatever the listings say: it reads every record. It finishes removals that were cut short. A dry run only
 * counts.
 * @throws StoreUnavailable; Failing at the end where a record cannot be read, which may be theirs
 */
export async function* purge(
  store: ObjectStore,
  owner: Owner,
  { dryRun, audit }: { dryRun: boolean; audit: Audit },
): AsyncGenerator<string> {
  let count = 0;
  let unreadable = 0;
  for await (const { id, found } of listRecordsOf(store, owner)) {
    if (found instanceof UnreadableRecord) {
      unreadable += 1;
      yield `${id}: the record cannot be read`;
    } else if (!isTombstone(found)) {
      count += 1;
      if (!dryRun) yield await removed(store, found, audit);
    } else if (!dryRun) await finishRemoval(store, found);
  }
  yield purgedLine(count, dryRun);
  if (unreadable > 0) throw new Failing(`${unreadable} records cannot be read`);
}

const spelling = 'Are provider and subject spelled as list shows them?';
const whatRuns = 'What of theirs is still being uploaded is not among them: block them first, and wait a minute.';

function purgedLine(count: number, dryRun: boolean): string {
  if (dryRun) return `${count} uploads would be removed; --yes removes them. ${count > 0 ? whatRuns : spelling}`;
  return count > 0 ? `${count} uploads were removed.` : `0 uploads were removed. ${spelling}`;
}

async function removed(store: ObjectStore, found: StoredRecord | Tombstone, audit: Audit): Promise<string> {
  if (isTombstone(found)) {
    await finishRemoval(store, found);
    return `${found.id}: was removed by ${found.removed.by === 'owner' ? 'its owner' : 'an operator'} on ${found.removed.at.toISOString()}`;
  }
  audit({
    act: 'remove',
    mediaId: found.id,
    mediaKey: found.mediaKey,
    provider: found.provider,
    subject: found.subject,
  });
  await removeMedia(store, found, { by: 'operator', at: new Date() });
  return `${found.id}: removed`;
}
