import { everyObject } from '@echodrop/object-store/every-object';
import { allRecords } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { findReadable } from './find-record.ts';
import { type Owner, ownerHash } from './owner.ts';

const readAtOnce = 16;

/** What lies in the place of one record. */
export interface FoundRecord {
  readonly id: string;
  /** Undefined where it was taken away between the listing and the look. */
  readonly found: StoredRecord | Tombstone | UnreadableRecord | undefined;
}

/**
 * Every record that the store holds, in the order of their ids, each read once; of those that are written or removed meanwhile
 * some may be missing.
 * @throws StoreUnavailable
 */
export function everyRecord(store: ObjectStore): AsyncIterable<FoundRecord> {
  return pMapIterable(recordIds(store), async (id) => ({ id, found: await findReadable(store, id) }), {
    concurrency: readAtOnce,
  });
}

/** Of all records those of one owner, tombstones too; and those that cannot be read, which may be theirs. @throws StoreUnavailable */
export async function* everyRecordOf(store: ObjectStore, owner: Owner): AsyncGenerator<FoundRecord> {
  const hash = ownerHash(owner);
  for await (const each of everyRecord(store)) {
    if (each.found && isOf(hash, each.found)) yield each;
  }
}

function isOf(hash: string, found: StoredRecord | Tombstone | UnreadableRecord): boolean {
  if (found instanceof UnreadableRecord) return true;
  return hash === (isTombstone(found) ? found.owner : ownerHash(found));
}

async function* recordIds(store: ObjectStore): AsyncGenerator<string> {
  for await (const { key } of everyObject(store, allRecords)) yield key.slice(allRecords.length, -'.json'.length);
}
