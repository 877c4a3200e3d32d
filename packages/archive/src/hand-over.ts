import { Readable } from 'node:stream';
import { ownersPrefix, recordKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { block, readBlocks, UnreadableBlock, unblock } from './blocks.ts';
import { describeUnreadable, describeUnreadableBlock } from './describe-unreadable.ts';
import { addToListings } from './listing.ts';
import { flatListingKeys, listingEntryOf, listingKeys } from './listing-keys.ts';
import { ownerHash } from './owner.ts';
import { type FoundRecord, findRecord, listRecords } from './records.ts';
import { UnreadableState } from './resumable-state.ts';
import { type ResumableUpload, readResumables, StateConflict, saveResumable } from './resumable-uploads.ts';

const concurrency = 16;

/** The advertised addresses of a provider: every user keeps the subject. */
export interface HandOver {
  readonly from: string;
  readonly to: string;
  /** Whether the hand-over only counts. */
  readonly dryRun: boolean;
  /** Whether no other process writes. */
  readonly isStopped: boolean;
}

/** What a hand-over did or found. */
export interface HandedOver {
  /** `earlier` is an upload of the new address. `skipped` may be handed over later. */
  readonly kind: 'block' | 'upload' | 'unfinished' | 'earlier' | 'skipped' | 'unreadable';
  /** What stays, why, and what to do. */
  readonly problem?: string;
}

/**
 * Gives blocks, uploads and unfinished uploads of one provider to another, in this order: a blocked user never gets through, and who goes on
 * with an unfinished upload finds the record that it may have. Uploads of `to` are `earlier`. Nothing that was done is done again, so an
 * interrupted hand-over ends with another. No one may remove uploads of `from` meanwhile. It probes the store: without conditional writes, states
 * of unfinished uploads stay unless all is stopped. @throws StoreUnavailable
 */
export async function* handOver(store: ObjectStore, provider: HandOver): AsyncGenerator<HandedOver> {
  const { dryRun, isStopped } = provider;
  const savesStates = dryRun || (await store.probe()).hasConditionalWrites || isStopped;
  yield* handOverBlocks(store, provider);
  const handed = pMapIterable(listRecords(store), (found) => handOverRecord(store, found, provider), { concurrency });
  for await (const each of handed) if (each) yield each;
  yield* handOverUnfinished(store, { ...provider, savesStates });
}

async function* handOverBlocks(store: ObjectStore, { from, to, dryRun }: HandOver): AsyncGenerator<HandedOver> {
  for await (const { key, found } of readBlocks(store)) {
    if (found instanceof UnreadableBlock)
      yield { kind: 'unreadable', problem: `${key}: ${describeUnreadableBlock(found)}` };
    else if (found.kind === 'user' && found.provider === from) {
      if (!dryRun) {
        await block(store, { ...found, provider: to }, found.since);
        await unblock(store, found);
      }
      yield { kind: 'block' };
    }
  }
}

async function handOverRecord(
  store: ObjectStore,
  { id, found }: FoundRecord,
  { from, to, dryRun }: HandOver,
): Promise<HandedOver | undefined> {
  if (found instanceof UnreadableRecord)
    return { kind: 'unreadable', problem: `${id}: ${describeUnreadable(id, found)}` };
  if (isTombstone(found)) return undefined;
  if (found.provider === to) {
    if (!dryRun && (await isListedUnder(store, found, from))) await relist(store, found, from);
    return { kind: 'earlier' };
  }
  if (found.provider !== from) return undefined;
  if (!dryRun) await rewriteRecord(store, found, to);
  return { kind: 'upload' };
}

/** Writes the record first: sweeps and `rebuild-listings` repair entries that do not follow. */
async function rewriteRecord(store: ObjectStore, record: StoredRecord, to: string): Promise<void> {
  const handed = { ...record, provider: to };
  await store.put(recordKey(record.id), Readable.from([encodeStoredRecord(handed)]), { isReplacement: true });
  const found = await findRecord(store, record.id);
  const isRemoved = found !== undefined && isTombstone(found);
  // The new owner may have removed the upload already, and does not know of the old entries.
  if (isRemoved) return delist(store, record, record.provider);
  if (found?.provider !== to) throw new StoreUnavailable('record unchanged after a confirmed write');
  await relist(store, handed, record.provider);
}

async function relist(store: ObjectStore, record: StoredRecord, from: string): Promise<void> {
  await addToListings(store, listingEntryOf(record));
  await delist(store, record, from);
}

async function delist(store: ObjectStore, record: StoredRecord, from: string): Promise<void> {
  await Promise.all(ownerKeys(record, from).map((key) => store.remove(key)));
}

async function isListedUnder(store: ObjectStore, record: StoredRecord, provider: string): Promise<boolean> {
  const found = await Promise.all(ownerKeys(record, provider).map((key) => store.stat(key)));
  return found.some((entry) => entry !== undefined);
}

/** The entries of a record in the list of this subject at `provider`, in either form. */
function ownerKeys({ id, timestamp, subject }: StoredRecord, provider: string): string[] {
  const entry = { id, timestamp, owner: ownerHash({ provider, subject }) };
  return [...listingKeys(entry), ...flatListingKeys(entry)].filter((key) => key.startsWith(ownersPrefix));
}

interface UnfinishedOptions extends HandOver {
  /** Whether no upload can be continued unnoticed. */
  readonly savesStates: boolean;
}

async function* handOverUnfinished(store: ObjectStore, options: UnfinishedOptions): AsyncGenerator<HandedOver> {
  for await (const found of readResumables(store)) {
    if (found instanceof UnreadableState) yield { kind: 'unreadable', problem: found.message };
    else if (found.state.provider === options.from) yield await handOverState(store, found, options);
  }
}

async function handOverState(
  store: ObjectStore,
  upload: ResumableUpload,
  { to, dryRun, savesStates }: UnfinishedOptions,
): Promise<HandedOver> {
  const { id, state } = upload;
  const skipped = (why: string): HandedOver => ({ kind: 'skipped', problem: `${id}: resumable upload ${why}` });
  const inProgress = skipped('in progress. Run this again in a minute; if it stays, it expires.');
  // The record of this state may appear under `from`. A repeated publication by the new owner would make a second record for the same media.
  if (state.mediaId !== undefined && !state.isPublished) return inProgress;
  if (!savesStates)
    return skipped(
      'stays, because the store has no conditional writes. Stop the whole system, and run this again with --stopped.',
    );
  try {
    if (!dryRun) await saveResumable(store, upload, { ...state, provider: to });
    return { kind: 'unfinished' };
  } catch (error) {
    if (error instanceof StateConflict) return inProgress;
    throw error;
  }
}
