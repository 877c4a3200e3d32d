import { Readable } from 'node:stream';
import { ownersPrefix, recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, isTombstone, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { block, readBlocks, UnreadableBlock, unblock } from './blocks.ts';
import { addToListings } from './listing.ts';
import { flatListingKeys, listingEntryOf, listingKeys } from './listing-keys.ts';
import { ownerHash } from './owner.ts';
import { type FoundRecord, findRecord, listRecords } from './records.ts';
import { UnreadableState } from './resumable-state.ts';
import { listResumables, StateConflict, saveResumable, tryFindResumable } from './resumable-uploads.ts';

const concurrency = 16;

/** What a hand-over lists. */
export const listsOfHandOver = [[recordsPrefix]];

/** The advertised addresses of a provider: every user keeps the subject. */
export interface HandOver {
  readonly from: string;
  readonly to: string;
  /** Changes nothing. */
  readonly dryRun: boolean;
  /** Whether no other process writes. */
  readonly isStopped: boolean;
}

/** What a hand-over found; `in_progress` is an upload that is being continued or published, `only_if_stopped` one that may be continued unnoticed. */
export type HandedOver =
  | { readonly kind: 'block' | 'upload' | 'unfinished' | 'earlier' }
  | { readonly kind: 'in_progress' | 'only_if_stopped'; readonly id: string }
  | { readonly kind: 'unreadable_block'; readonly key: string; readonly error: UnreadableBlock }
  | { readonly kind: 'unreadable_state'; readonly error: UnreadableState }
  | { readonly kind: 'unreadable_record'; readonly id: string; readonly error: UnreadableRecord };

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
    if (found instanceof UnreadableBlock) yield { kind: 'unreadable_block', key, error: found };
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
  if (found instanceof UnreadableRecord) return { kind: 'unreadable_record', id, error: found };
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
  // Its new owner may have removed it already, and does not know of the old entries.
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

async function* handOverUnfinished(
  store: ObjectStore,
  { from, to, dryRun, savesStates }: HandOver & { readonly savesStates: boolean },
): AsyncGenerator<HandedOver> {
  for await (const { id } of listResumables(store)) {
    const found = await tryFindResumable(store, id);
    if (found instanceof UnreadableState) yield { kind: 'unreadable_state', error: found };
    if (!found || found instanceof UnreadableState || found.state.provider !== from) continue;
    const { mediaId, isPublished } = found.state;
    // Its record may appear under `from`: a repeated publication by its new owner would make a second one for the same media.
    if (mediaId !== undefined && !isPublished) yield { kind: 'in_progress', id };
    else if (!savesStates) yield { kind: 'only_if_stopped', id };
    else if (dryRun) yield { kind: 'unfinished' };
    else
      yield await saveResumable(store, found, { ...found.state, provider: to }).then(
        () => ({ kind: 'unfinished' }) as const,
        (error: unknown) => {
          if (error instanceof StateConflict) return { kind: 'in_progress', id } as const;
          throw error;
        },
      );
  }
}
