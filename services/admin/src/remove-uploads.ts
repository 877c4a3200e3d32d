import { everyRecord } from '@echodrop/archive/every-record';
import { findReadable } from '@echodrop/archive/find-record';
import type { Owner } from '@echodrop/archive/owner';
import { ownerHash } from '@echodrop/archive/owner';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import type { Audit } from './audit.ts';
import { Failing } from './failing.ts';

/** Removes the uploads of these ids; a line for each. @throws StoreUnavailable; Failing at the end where one was not there or cannot be read */
export async function* removeUploads(store: ObjectStore, ids: readonly string[], audit: Audit): AsyncGenerator<string> {
  let failed = 0;
  for (const id of ids) {
    const found = await findReadable(store, id);
    if (found && !(found instanceof UnreadableRecord)) yield await removed(store, found, audit);
    else {
      failed += 1;
      yield found ? `${id}: the record cannot be read` : `${id}: there is no such upload`;
    }
  }
  if (failed > 0) throw new Failing(`${failed} of ${ids.length} were not removed`);
}

/**
 * Removes everything of one user, whatever the listings say: every record is looked at. What was removed before and left something behind is
 * finished. Without `isMeant` it is only counted.
 * @throws StoreUnavailable; Failing at the end where a record cannot be read, which may be theirs
 */
export async function* purge(
  store: ObjectStore,
  owner: Owner,
  { isMeant, audit }: { isMeant: boolean; audit: Audit },
): AsyncGenerator<string> {
  const hash = ownerHash(owner);
  let count = 0;
  let unreadable = 0;
  for await (const { id, found } of everyRecord(store)) {
    if (found instanceof UnreadableRecord) {
      unreadable += 1;
      yield `${id}: the record cannot be read`;
    } else if (found && hashOf(found) === hash) {
      if (!isTombstone(found)) count += 1;
      if (isMeant) yield await removed(store, found, audit);
    }
  }
  yield isMeant
    ? `${count} uploads were removed. What of theirs is still being uploaded is not among them: block them first, and run this again a minute later.`
    : `${count} uploads would be removed; --yes removes them.`;
  if (unreadable > 0) throw new Failing(`${unreadable} records cannot be read`);
}

function hashOf(found: StoredRecord | Tombstone): string {
  return isTombstone(found) ? found.owner : ownerHash(found);
}

async function removed(store: ObjectStore, found: StoredRecord | Tombstone, audit: Audit): Promise<string> {
  if (isTombstone(found)) {
    await finishRemoval(store, found);
    return `${found.id}: was removed by its ${found.removed.by === 'owner' ? 'owner' : 'operator'} on ${found.removed.at.toISOString()}`;
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
