import { listObjects } from '@echodrop/object-store/list-objects';
import { recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { type FoundRecord, findListedRecord, idInRecordKey, listRecords } from './every-record.ts';
import { MediaKeySet, type NamedBy } from './media-key-set.ts';
import { type KeyRange, mediaIn, mediaKeysInStore, renditionsIn } from './media-keys-in-store.ts';

/** Media, or a rendition of it, that no published record names. */
export interface UnpublishedObject {
  readonly kind: 'media' | 'renditions';
  readonly mediaKey: string;
  readonly object: ListedObject;
  /** By the tombstone of a removal that was cut short, or by nothing. */
  readonly namedBy: Exclude<NamedBy, 'record'>;
}

/** Some media keys of the store were looked at, up to `to`; these objects of them are named by no published record. */
export interface LookedAt {
  readonly to: string;
  /** How many media keys these were, and how many of them neither a record nor a tombstone names. */
  readonly keys: number;
  readonly unnamed: number;
  /** Whether the store has a record or a tombstone at all. */
  readonly hasRecords: boolean;
  /** May be gone through again, and is listed anew then. */
  readonly unpublished: AsyncIterable<UnpublishedObject>;
}

interface Looking {
  /** Media keys up to this one are passed over. */
  readonly after?: string | undefined;
  /** How many media keys are held at once, in 17 bytes each; for each so many all records are read once. */
  readonly keysPerBatch?: number | undefined;
  readonly signal: AbortSignal;
  /** Gets every record, once, when it is first read. */
  readonly visit?: ((found: FoundRecord) => Promise<void>) | undefined;
}

/** What cannot be read may name any media: nothing can be said about any. */
export class RecordsUnreadable extends Error {
  override readonly name = 'RecordsUnreadable';

  constructor(id: string, why: string) {
    super(`the record ${id} cannot be read (${why}), and may name any media: verify-store names all that cannot`);
  }
}

// 68 MB.
const keysAtOnceUsually = 4_000_000;
// Records are as old as the store says: clocks of its parts may disagree.
const marginMs = 60_000;
const readAtOnce = 16;

/**
 * All media and renditions that no published record names, some media keys at a time. Media is looked at before records are: of media
 * whose upload was over by then, whatever names it is seen. Records that came while others were read are looked at too, right before the objects are given.
 * @throws RecordsUnreadable, StoreUnavailable, or the signal's reason
 */
export async function* findUnpublished(
  store: ObjectStore,
  { after: first, keysPerBatch = keysAtOnceUsually, signal, visit }: Looking,
): AsyncGenerator<LookedAt> {
  for (let after = first; ; ) {
    const keys = new MediaKeySet(keysPerBatch);
    let to = after;
    for await (const key of mediaKeysInStore(store, after)) {
      signal.throwIfAborted();
      keys.add(key);
      to = key;
      if (keys.isFull) break;
    }
    if (to === undefined || keys.size === 0) return;
    const hasRecords = await nameAll(store, keys, signal, after === first ? visit : undefined);
    const { size, unnamed } = keys;
    const range = { after, to };
    const listed = () => (keys.hasUnpublished ? unpublishedOf(store, keys, range) : nothing());
    yield { to, keys: size, unnamed, hasRecords, unpublished: { [Symbol.asyncIterator]: listed } };
    if (!keys.isFull) return;
    after = to;
  }
}

/** @returns whether there was any record */
async function nameAll(
  store: ObjectStore,
  keys: MediaKeySet,
  signal: AbortSignal,
  visit: Looking['visit'],
): Promise<boolean> {
  const began = await store.clock();
  let hasRecords = false;
  let unreadable: FoundRecord | undefined;
  for await (const each of listRecords(store)) {
    signal.throwIfAborted();
    // All are visited: one that cannot be read keeps no other out of the lists.
    await visit?.(each);
    if (each.found instanceof UnreadableRecord) unreadable ??= each;
    else name(keys, each);
    hasRecords = true;
  }
  if (unreadable) name(keys, unreadable);
  if (!keys.hasUnpublished) return hasRecords;
  for await (const found of recordsSince(store, began.getTime() - marginMs)) {
    signal.throwIfAborted();
    name(keys, found);
    hasRecords = true;
  }
  return hasRecords;
}

function name(keys: MediaKeySet, { id, found }: FoundRecord): void {
  if (found instanceof UnreadableRecord) throw new RecordsUnreadable(id, found.message);
  keys.name(found.mediaKey, namedByOf(found));
}

function namedByOf(found: StoredRecord | Tombstone): 'record' | 'tombstone' {
  return isTombstone(found) ? 'tombstone' : 'record';
}

function recordsSince(store: ObjectStore, since: number): AsyncIterable<FoundRecord> {
  return pMapIterable(idsSince(store, since), async (id) => ({ id, found: await findListedRecord(store, id) }), {
    concurrency: readAtOnce,
  });
}

async function* idsSince(store: ObjectStore, since: number): AsyncGenerator<string> {
  for await (const { key, writtenAt } of listObjects(store, recordsPrefix)) {
    const id = idInRecordKey(key);
    if (id !== undefined && writtenAt.getTime() >= since) yield id;
  }
}

async function* unpublishedOf(
  store: ObjectStore,
  keys: MediaKeySet,
  range: KeyRange,
): AsyncGenerator<UnpublishedObject> {
  const kinds = [
    ['media', mediaIn(store, range)],
    ['renditions', renditionsIn(store, range)],
  ] as const;
  for (const [kind, objects] of kinds) {
    for await (const { mediaKey, object } of objects) {
      const namedBy = keys.namedBy(mediaKey);
      if (namedBy === 'nothing' || namedBy === 'tombstone') yield { kind, mediaKey, object, namedBy };
    }
  }
}

async function* nothing(): AsyncGenerator<UnpublishedObject> {}
