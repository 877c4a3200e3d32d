import { mediaPrefix, recordsPrefix, renditionsPrefix } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { type ListingEntry, listingEntryOf } from './listing-keys.ts';
import { MediaKeySet, type Reference } from './media-key-set.ts';
import { listMedia, listMediaKeys, listRenditions } from './media-keys-in-store.ts';
import { type FoundRecord, listRecords } from './records.ts';

/** Media or a rendition that no published record references. */
export interface Orphan {
  readonly kind: 'media' | 'renditions';
  readonly object: ListedObject;
  readonly mediaKey: string;
  /** The tombstone of an interrupted removal, or nothing. */
  readonly reference: Exclude<Reference, 'record'>;
}

/** What a search found. */
export interface OrphanSearch {
  /** Number of media keys. */
  readonly keys: number;
  /** Number of media keys without a record or tombstone. */
  readonly unreferenced: number;
  /** Whether the store has any record or tombstone. */
  readonly hasRecords: boolean;
  /** Each iteration lists the store again. */
  readonly orphans: AsyncIterable<Orphan>;
}

interface SearchOptions {
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

/** What a search lists, in order. Folders of renditions are listed beside media. */
export const listsOfSearch = [mediaPrefix, recordsPrefix];
/** What it lists if there are orphans. */
export const listsOfOrphans = [recordsPrefix, mediaPrefix, renditionsPrefix];

// The clocks of the store's nodes may differ.
const clockMarginMs = 60_000;

/**
 * Finds media and renditions that no published record references. Lists media before it reads records, and finally reads the records written
 * meanwhile, so that an upload that finishes during the search counts as published. Holds all media keys, 17 bytes each: reading all records once
 * for each part of them would cost more than memory.
 * @throws RecordsUnreadable, StoreUnavailable, or the signal's reason
 */
export async function findOrphans(store: ObjectStore, { signal, visit }: SearchOptions): Promise<OrphanSearch> {
  const keys = new MediaKeySet();
  for await (const key of listMediaKeys(store)) {
    signal.throwIfAborted();
    keys.add(key);
  }
  const hasRecords = keys.size > 0 && (await markReferenced(store, keys, signal, visit));
  const list = () => listOrphans(store, keys);
  const { size, unreferenced } = keys;
  return { keys: size, unreferenced, hasRecords, orphans: { [Symbol.asyncIterator]: list } };
}

/** @returns whether any record exists */
async function markReferenced(
  store: ObjectStore,
  keys: MediaKeySet,
  signal: AbortSignal,
  visit: SearchOptions['visit'],
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

async function* listOrphans(store: ObjectStore, keys: MediaKeySet): AsyncGenerator<Orphan> {
  if (!keys.hasOrphans) return;
  const orphanOf = (mediaKey: string) => {
    const reference = keys.referenceOf(mediaKey);
    return reference === 'record' ? undefined : reference;
  };
  const kinds = [
    ['media', listMedia(store)],
    ['renditions', listRenditions(store, (mediaKey) => orphanOf(mediaKey) !== undefined)],
  ] as const;
  for (const [kind, objects] of kinds) {
    for await (const { mediaKey, object } of objects) {
      const reference = orphanOf(mediaKey);
      if (reference !== undefined) yield { kind, object, mediaKey, reference };
    }
  }
}
