import { listKeys, listObjects } from '@echodrop/object-store/list-objects';
import { recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch, type ObjectStore } from '@echodrop/object-store/object-store';
import { ObjectTooLarge, readSmallObject } from '@echodrop/object-store/read-small-object';
import {
  decodeStoredRecord,
  isMediaId,
  isTombstone,
  maxRecordBytes,
  type StoredRecord,
  type Tombstone,
  UnreadableRecord,
} from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { type Owner, ownerHash } from './owner.ts';

const concurrency = 16;

export interface FoundRecord {
  readonly id: string;
  readonly found: StoredRecord | Tombstone | UnreadableRecord;
}

/**
 * Reads a record or its tombstone; undefined if neither exists or `id` is not a media id: no other text becomes a key.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function findRecord(
  store: ObjectStore,
  id: string,
  signal?: AbortSignal,
): Promise<StoredRecord | Tombstone | undefined> {
  if (!isMediaId(id)) return undefined;
  const bytes = await readSmallObject(store, recordKey(id), maxRecordBytes, signal).catch((error) => {
    throw error instanceof ObjectTooLarge ? new UnreadableRecord(error.message, { cause: error }) : error;
  });
  return bytes && decodeStoredRecord(bytes, id);
}

/** Like `findRecord`, but returns UnreadableRecord, so that one damaged record does not end a sweep or a list. */
export async function tryFindRecord(
  store: ObjectStore,
  id: string,
  signal?: AbortSignal,
): Promise<FoundRecord['found'] | undefined> {
  const find = () => findRecord(store, id, signal);
  try {
    // The bytes may have changed on the way from the store; a second read then differs.
    return await find().catch((error): ReturnType<typeof find> => {
      if (error instanceof ChecksumMismatch) return find();
      throw error;
    });
  } catch (error) {
    if (error instanceof UnreadableRecord) return error;
    if (error instanceof ChecksumMismatch) return new UnreadableRecord(error.message, { cause: error });
    throw error;
  }
}

/** The store lists the record, and does not find it. */
export class RecordNotFound extends UnreadableRecord {
  constructor() {
    super('listed but not found');
  }
}

/**
 * Reads a record that the store lists. Records are never removed, so a missing one is unreadable: a MinIO node that was down during the write
 * does not find it for a second or two (measured).
 * @throws StoreUnavailable, or the signal's reason
 */
export async function findListedRecord(
  store: ObjectStore,
  id: string,
  signal?: AbortSignal,
): Promise<FoundRecord['found']> {
  return (await tryFindRecord(store, id, signal)) ?? new RecordNotFound();
}

/**
 * Reads all records, in the order of their ids, or those written after `since` (ms since 1970 by the store's clock). Concurrent writes may be missing.
 * @throws StoreUnavailable
 */
export function listRecords(store: ObjectStore, since = Number.NEGATIVE_INFINITY): AsyncIterable<FoundRecord> {
  const read = async (id: string) => ({ id, found: await findListedRecord(store, id) });
  return pMapIterable(recordIds(store, since), read, { concurrency });
}

/** Reads the records and tombstones of one owner, and all unreadable records, which may belong to them. @throws StoreUnavailable */
export async function* listRecordsOf(store: ObjectStore, owner: Owner): AsyncGenerator<FoundRecord> {
  const hash = ownerHash(owner);
  for await (const record of listRecords(store)) {
    const { found } = record;
    if (found instanceof UnreadableRecord || hash === (isTombstone(found) ? found.owner : ownerHash(found)))
      yield record;
  }
}

async function* recordIds(store: ObjectStore, since: number): AsyncGenerator<string> {
  for await (const key of since === Number.NEGATIVE_INFINITY
    ? listKeys(store, recordsPrefix)
    : keysSince(store, since)) {
    const id = idInRecordKey(key);
    if (id !== undefined) yield id;
  }
}

async function* keysSince(store: ObjectStore, since: number): AsyncGenerator<string> {
  for await (const { key, writtenAt } of listObjects(store, recordsPrefix)) if (writtenAt.getTime() >= since) yield key;
}

/** The media id in the key of a record; undefined for other keys. */
export function idInRecordKey(key: string): string | undefined {
  const id = key.slice(recordsPrefix.length, -'.json'.length);
  return isMediaId(id) && recordKey(id) === key ? id : undefined;
}
