import { listObjects } from '@echodrop/object-store/list-objects';
import { recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isMediaId, isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { tryFindRecord } from './find-record.ts';
import { type Owner, ownerHash } from './owner.ts';

const readAtOnce = 16;

/** What lies in the place of one record. */
export interface FoundRecord {
  readonly id: string;
  readonly found: StoredRecord | Tombstone | UnreadableRecord;
}

/**
 * Every record that the store holds, in the order of their ids, each read once; of those that are written or removed meanwhile
 * some may be missing.
 * @throws StoreUnavailable
 */
export function listRecords(store: ObjectStore): AsyncIterable<FoundRecord> {
  return pMapIterable(recordIds(store), async (id) => ({ id, found: await findListedRecord(store, id) }), {
    concurrency: readAtOnce,
  });
}

/**
 * A record that the store lists: where it does not find it, as a node of MinIO does for a second or two that was gone when it was written (measured),
 * it cannot be read, for no record is ever taken away.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function findListedRecord(
  store: ObjectStore,
  id: string,
  signal?: AbortSignal,
): Promise<FoundRecord['found']> {
  return (await tryFindRecord(store, id, signal)) ?? new UnreadableRecord('it is listed, and not found');
}

/** Of all records those of one owner, tombstones too; and those that cannot be read, which may be theirs. @throws StoreUnavailable */
export async function* listRecordsOf(store: ObjectStore, owner: Owner): AsyncGenerator<FoundRecord> {
  const hash = ownerHash(owner);
  for await (const each of listRecords(store)) {
    if (isOf(hash, each.found)) yield each;
  }
}

function isOf(hash: string, found: FoundRecord['found']): boolean {
  if (found instanceof UnreadableRecord) return true;
  return hash === (isTombstone(found) ? found.owner : ownerHash(found));
}

async function* recordIds(store: ObjectStore): AsyncGenerator<string> {
  for await (const { key } of listObjects(store, recordsPrefix)) {
    const id = idInRecordKey(key);
    if (id !== undefined) yield id;
  }
}

/** The id of the record that lies under an object's key; undefined where none has such a key. */
export function idInRecordKey(key: string): string | undefined {
  const id = key.slice(recordsPrefix.length, -'.json'.length);
  return isMediaId(id) && recordKey(id) === key ? id : undefined;
}
