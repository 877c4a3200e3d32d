import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { type ListingEntry, listingEntryOf } from './listing-keys.ts';
import { MediaKeySet, type Reference } from './media-key-set.ts';
import { type KeyRange, listMedia, listMediaKeys, listRenditions } from './media-keys-in-store.ts';
import { type FoundRecord, listRecords } from './records.ts';

/** Media or a rendition that no published record references. */
export interface Orphan {
  readonly kind: 'media' | 'renditions';
  readonly object: ListedObject;
  readonly mediaKey: string;
  /** The tombstone of an interrupted removal, or nothing. */
  readonly reference: Exclude<Reference, 'record'>;
}

/** The result for a batch of media keys, up to `to`. */
export interface KeyBatch {
  readonly to: string;
  /** Number of media keys. */
  readonly keys: number;
  /** Number of media keys without a record or tombstone. */
  readonly unreferenced: number;
  /** Whether the store has any record or tombstone. */
  readonly hasRecords: boolean;
  /** Each iteration lists the store again. */
  readonly orphans: AsyncIterable<Orphan>;
}

interface ScanOptions {
  /** Skips the media keys up to this one. */
  readonly after?: string | undefined;
  /** Media keys per batch, 17 bytes each. Each batch reads all records once. */
  readonly keysPerBatch?: number | undefined;
  readonly signal: AbortSignal;
  /** Called once with the entry of every published record. */
  readonly visit?: ((entry: ListingEntry) => Promise<void>) | undefined;
}

/** An unreadable record may reference any media, so no media is certainly unreferenced. */
export class RecordsUnreadable extends Error {
  override readonly name = 'RecordsUnreadable';
  /** Of one of them. */
  readonly id: string;

  constructor(id: string, reason: string) {
    super(
      `Record ${id} is unreadable (${reason}) and may belong to any media, so no media or rendition was deleted. verify-store lists all such records, and says what to do.`,
    );
    this.id = id;
  }
}

// 68 MB.
const defaultKeysPerBatch = 4_000_000;
// The clocks of the store's nodes may differ.
const clockMarginMs = 60_000;

/**
 * Finds media and renditions that no published record references, in batches of media keys. Lists media before it reads records, and finally
 * reads the records written meanwhile, so that an upload that finishes during the scan counts as published.
 * @throws RecordsUnreadable, StoreUnavailable, or the signal's reason
 */
export async function* findOrphans(
  store: ObjectStore,
  { after: first, keysPerBatch = defaultKeysPerBatch, signal, visit }: ScanOptions,
): AsyncGenerator<KeyBatch> {
  for (let after = first; ; ) {
    const keys = new MediaKeySet(keysPerBatch);
    let to = after;
    for await (const key of listMediaKeys(store, after)) {
      signal.throwIfAborted();
      keys.add(key);
      to = key;
      if (keys.isFull) break;
    }
    if (to === undefined || keys.size === 0) return;
    const hasRecords = await markReferenced(store, keys, signal, after === first ? visit : undefined);
    const { size, unreferenced } = keys;
    const range = { after, to };
    const list = () => listOrphans(store, keys, range);
    yield { to, keys: size, unreferenced, hasRecords, orphans: { [Symbol.asyncIterator]: list } };
    if (!keys.isFull) return;
    after = to;
  }
}

/** @returns whether any record exists */
async function markReferenced(
  store: ObjectStore,
  keys: MediaKeySet,
  signal: AbortSignal,
  visit: ScanOptions['visit'],
): Promise<boolean> {
  const began = await store.clock();
  let hasRecords = false;
  let unreadable: FoundRecord | undefined;
  for await (const record of listRecords(store)) {
    signal.throwIfAborted();
    // Visits all records: an unreadable one must not prevent the relisting of others.
    if (record.found instanceof UnreadableRecord) unreadable ??= record;
    else {
      if (!isTombstone(record.found)) await visit?.(listingEntryOf(record.found));
      mark(keys, record);
    }
    hasRecords = true;
  }
  if (unreadable) mark(keys, unreadable);
  if (!keys.hasOrphans) return hasRecords;
  for await (const record of listRecords(store, began.getTime() - clockMarginMs)) {
    signal.throwIfAborted();
    mark(keys, record);
    hasRecords = true;
  }
  return hasRecords;
}

function mark(keys: MediaKeySet, { id, found }: FoundRecord): void {
  if (found instanceof UnreadableRecord) throw new RecordsUnreadable(id, found.message);
  keys.mark(found.mediaKey, isTombstone(found) ? 'tombstone' : 'record');
}

async function* listOrphans(store: ObjectStore, keys: MediaKeySet, range: KeyRange): AsyncGenerator<Orphan> {
  if (!keys.hasOrphans) return;
  const orphanOf = (mediaKey: string) => {
    const reference = keys.referenceOf(mediaKey);
    return reference === 'record' ? undefined : reference;
  };
  const kinds = [
    ['media', listMedia(store, range)],
    ['renditions', listRenditions(store, range, (mediaKey) => orphanOf(mediaKey) !== undefined)],
  ] as const;
  for (const [kind, objects] of kinds) {
    for await (const { mediaKey, object } of objects) {
      const reference = orphanOf(mediaKey);
      if (reference !== undefined) yield { kind, object, mediaKey, reference };
    }
  }
}
