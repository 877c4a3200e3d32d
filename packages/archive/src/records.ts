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
    // The bytes may have changed on the way from the store. A second read then differs.
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

/** The store lists a record, and does not find it. */
export class RecordNotFound extends UnreadableRecord {
  constructor() {
    super('listed but not found');
  }
}

/**
 * Reads a record that the store lists. Records are never removed, so a missing one is unreadable: a MinIO node that was down during the write
 * does not find it for a second or two (measured).
 * @throws StoreUnavailable
 */
export async function findListedRecord(store: ObjectStore, id: string): Promise<FoundRecord['found']> {
  return (await tryFindRecord(store, id)) ?? new RecordNotFound();
}

export interface ListOptions {
  /** Reads only records that were written since this time, in milliseconds by the store's clock. */
  readonly since?: number | undefined;
  /** Reads older records, too, unless their ids are in this set: a restored record has an old time. */
  readonly known?: { has(id: string): boolean } | undefined;
  /** Called with the id of each record, also of one that is not read. */
  readonly visitId?: ((id: string) => void) | undefined;
}

/** Reads records, in the order of their ids. Concurrent writes may be missing. @throws StoreUnavailable */
export function listRecords(
  store: ObjectStore,
  { since, known, visitId }: ListOptions = {},
): AsyncIterable<FoundRecord> {
  async function* idsSince() {
    for await (const { key, isOlder } of recordKeys(store, since)) {
      const id = idInRecordKey(key);
      if (id === undefined) continue;
      visitId?.(id);
      if (!isOlder || known?.has(id) === false) yield id;
    }
  }
  const read = async (id: string) => ({ id, found: await findListedRecord(store, id) });
  return pMapIterable(idsSince(), read, { concurrency });
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

async function* recordKeys(store: ObjectStore, since: number | undefined) {
  if (since === undefined) for await (const key of listKeys(store, recordsPrefix)) yield { key, isOlder: false };
  else
    for await (const { key, writtenAt } of listObjects(store, recordsPrefix))
      yield { key, isOlder: writtenAt.getTime() < since };
}

/** The media id in the key of a record; undefined for other keys. */
export function idInRecordKey(key: string): string | undefined {
  const id = key.slice(recordsPrefix.length, -'.json'.length);
  return isMediaId(id) && recordKey(id) === key ? id : undefined;
}
