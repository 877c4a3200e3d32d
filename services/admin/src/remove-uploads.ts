import { describeUnreadable } from '@echodrop/archive/describe-unreadable';
import type { Owner } from '@echodrop/archive/owner';
import { listRecordsOf, tryFindRecord } from '@echodrop/archive/records';
import { finishRemoval, removeMedia } from '@echodrop/archive/remove-media';
import { UnreadableState } from '@echodrop/archive/resumable-state';
import { readResumables, removeResumable } from '@echodrop/archive/resumable-uploads';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { type Audit, CommandFailed } from './command-context.ts';
import { type PublicAddresses, readMediaId, readUpload } from './upload-address.ts';

/** Removes uploads by id or address. Yields a line for each. @throws StoreUnavailable; CommandFailed at the end if one does not exist or is unreadable */
export async function* removeUploads(
  store: ObjectStore,
  idsOrAddresses: readonly string[],
  { audit, addresses }: { audit: Audit; addresses: PublicAddresses },
): AsyncGenerator<string> {
  let failed = 0;
  for (const each of idsOrAddresses) {
    try {
      yield await remove(store, await readUpload(store, readMediaId(each, addresses)), audit);
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error;
      failed += 1;
      yield error.message;
    }
  }
  if (failed > 0) throw new CommandFailed(`Failed to delete ${failed} of ${idsOrAddresses.length} uploads.`);
}

interface PurgeOptions {
  readonly dryRun: boolean;
  readonly audit: Audit;
}

/**
 * Removes all uploads of a user, also unfinished ones, and finishes interrupted removals. Reads every record, not the lists. A dry run only counts.
 * @throws StoreUnavailable; CommandFailed at the end if a record or state is unreadable, since it may be the user's
 */
export async function* purge(store: ObjectStore, owner: Owner, options: PurgeOptions): AsyncGenerator<string> {
  const counts = { uploads: 0, deleted: 0, unreadable: 0 };
  const { dryRun } = options;
  try {
    yield* purgeRecords(store, owner, options, counts);
    yield* purgeUnfinished(store, owner, options, counts);
  } catch (error) {
    if (!dryRun) yield `Not finished: deleted ${counts.deleted} uploads. Repeat the command to finish.`;
    throw error;
  }
  const { uploads, unreadable } = counts;
  const hint = uploads === 0 ? ' Compare provider and subject with the output of `admin list`.' : '';
  const running = uploads === 0 ? '' : ' To include uploads in progress, block the user first and wait a minute.';
  yield dryRun
    ? `Dry run: would delete ${uploads} uploads. Add --yes to delete them.${hint}${running}`
    : `Deleted ${uploads} uploads.${hint}`;
  if (unreadable > 0)
    throw new CommandFailed(`${unreadable} unreadable records or states stay. They may be of this user.`);
}

type Counts = Record<'uploads' | 'deleted' | 'unreadable', number>;

async function* purgeRecords(store: ObjectStore, owner: Owner, { dryRun, audit }: PurgeOptions, counts: Counts) {
  for await (const { id, found } of listRecordsOf(store, owner)) {
    if (found instanceof UnreadableRecord) {
      counts.unreadable += 1;
      yield `${id}: ${describeUnreadable(id, found)}`;
      continue;
    }
    const isPublished = !isTombstone(found);
    if (isPublished) counts.uploads += 1;
    if (dryRun) continue;
    const line = await remove(store, found, audit);
    if (!isPublished) continue;
    counts.deleted += 1;
    yield line;
  }
}

async function* purgeUnfinished(store: ObjectStore, owner: Owner, { dryRun, audit }: PurgeOptions, counts: Counts) {
  for await (const found of readResumables(store)) {
    if (found instanceof UnreadableState) {
      counts.unreadable += 1;
      yield found.message;
      continue;
    }
    const { mediaId, mediaKey, provider, subject, write } = found.state;
    if (provider !== owner.provider || subject !== owner.subject) continue;
    // The state of a published upload, which counts as its record, still names the user.
    const isPublished = mediaId !== undefined && (await tryFindRecord(store, mediaId)) !== undefined;
    if (!isPublished) counts.uploads += 1;
    if (dryRun) continue;
    if (!isPublished) audit({ action: 'remove', mediaKey, provider, subject });
    await removeResumable(store, found.id, write);
    if (isPublished) continue;
    // A state may be complete: then its publication failed.
    await store.remove(mediaObjectKey(mediaKey));
    counts.deleted += 1;
    yield `${found.id}: unfinished, deleted`;
  }
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
