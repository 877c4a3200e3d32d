import type { Owner } from '@echodrop/archive/owner';
import { listRecordsOf, tryFindRecord } from '@echodrop/archive/records';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import { UnreadableState } from '@echodrop/archive/resumable-state';
import { listResumables, removeResumable, tryFindResumable } from '@echodrop/archive/resumable-uploads';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { type Audit, CommandFailed } from './command-context.ts';
import { describeUnreadable } from './describe-unreadable.ts';
import { type PublicAddresses, readMediaId } from './upload-address.ts';

/** Removes uploads by id or address. Yields a line for each. @throws StoreUnavailable; CommandFailed at the end if one does not exist or is unreadable */
export async function* removeUploads(
  store: ObjectStore,
  idsOrAddresses: readonly string[],
  { audit, addresses }: { audit: Audit; addresses: PublicAddresses },
): AsyncGenerator<string> {
  let failed = 0;
  for (const each of idsOrAddresses) {
    try {
      yield await removeUpload(store, readMediaId(each, addresses), audit);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      failed += 1;
      yield error.message;
    }
  }
  if (failed > 0) throw new CommandFailed(`Failed to delete ${failed} of ${idsOrAddresses.length} uploads.`);
}

async function removeUpload(store: ObjectStore, id: string, audit: Audit): Promise<string> {
  const found = await tryFindRecord(store, id);
  if (!found) throw new CommandFailed(`${id}: no such upload`);
  if (found instanceof UnreadableRecord) throw new CommandFailed(`${id}: ${describeUnreadable(id, found)}`);
  return remove(store, found, audit);
}

interface PurgeOptions {
  readonly dryRun: boolean;
  readonly audit: Audit;
}

interface Counts {
  uploads: number;
  deleted: number;
  unreadable: number;
}

/**
 * Removes all uploads of a user, also unfinished ones, and finishes interrupted removals. Reads every record, not the lists. A dry run only counts.
 * @throws StoreUnavailable; CommandFailed at the end if a record or state is unreadable, since it may be the user's
 */
export async function* purge(store: ObjectStore, owner: Owner, options: PurgeOptions): AsyncGenerator<string> {
  const counts = { uploads: 0, deleted: 0, unreadable: 0 };
  try {
    yield* purgeRecords(store, owner, options, counts);
    yield* purgeUnfinished(store, owner, options, counts);
  } catch (error) {
    if (!options.dryRun) yield `Not finished: deleted ${counts.deleted} uploads. Repeat the command to finish.`;
    throw error;
  }
  yield summary(counts.uploads, options.dryRun);
  if (counts.unreadable > 0)
    throw new CommandFailed(`${counts.unreadable} unreadable records or states stay. They may be of this user.`);
}

async function* purgeRecords(store: ObjectStore, owner: Owner, { dryRun, audit }: PurgeOptions, counts: Counts) {
  for await (const { id, found } of listRecordsOf(store, owner)) {
    if (found instanceof UnreadableRecord) {
      counts.unreadable += 1;
      yield `${id}: ${describeUnreadable(id, found)}`;
    } else if (!isTombstone(found)) {
      counts.uploads += 1;
      if (dryRun) continue;
      const line = await remove(store, found, audit);
      counts.deleted += 1;
      yield line;
    } else if (!dryRun) await finishRemoval(store, found);
  }
}

async function* purgeUnfinished(store: ObjectStore, owner: Owner, { dryRun, audit }: PurgeOptions, counts: Counts) {
  for await (const found of resumablesOf(store, owner)) {
    if (found instanceof UnreadableState) {
      counts.unreadable += 1;
      yield found.message;
      continue;
    }
    const { mediaId, write } = found.state;
    // The state of a published upload, which counts as its record, still names the user.
    const isPublished = mediaId !== undefined && (await tryFindRecord(store, mediaId)) !== undefined;
    if (!isPublished) counts.uploads += 1;
    if (dryRun) continue;
    const { mediaKey, provider, subject } = found.state;
    if (!isPublished) audit({ action: 'remove', mediaKey, provider, subject });
    await removeResumable(store, found.id, write);
    if (isPublished) continue;
    // Complete, if its publication failed.
    await store.remove(mediaObjectKey(mediaKey));
    counts.deleted += 1;
    yield `${found.id}: unfinished, deleted`;
  }
}

async function* resumablesOf(store: ObjectStore, { provider, subject }: Owner) {
  for await (const { id } of listResumables(store)) {
    const found = await tryFindResumable(store, id);
    if (found instanceof UnreadableState) yield found;
    else if (found?.state.provider === provider && found.state.subject === subject) yield found;
  }
}

function summary(count: number, dryRun: boolean): string {
  const hint = count === 0 ? ' Compare provider and subject with the output of `admin list`.' : '';
  if (!dryRun) return `Deleted ${count} uploads.${hint}`;
  const running = count === 0 ? '' : ' To include uploads in progress, block the user first and wait a minute.';
  return `Dry run: would delete ${count} uploads. Add --yes to delete them.${hint}${running}`;
}

async function remove(store: ObjectStore, found: StoredRecord | Tombstone, audit: Audit): Promise<string> {
  const { id } = found;
  if (isTombstone(found)) {
    await finishRemoval(store, found);
    const { by, at } = found.removed;
    return `${id}: already deleted by ${by === 'owner' ? 'its owner' : 'an operator'} on ${at.toISOString()}`;
  }
  const { mediaKey, provider, subject } = found;
  audit({ action: 'remove', mediaId: id, mediaKey, provider, subject });
  await removeMedia(store, found, { by: 'operator', at: new Date() });
  return `${id}: deleted`;
}
