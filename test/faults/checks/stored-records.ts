import { buffer } from 'node:stream/consumers';
import { listObjects } from '@echodrop/object-store/list-objects';
import { recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

export interface RecordInStore {
  readonly id: string;
  readonly text: string;
  readonly size: number;
  readonly media_key: string;
  readonly timestamp: string;
}

interface Recorded {
  /** All records by id. */
  readonly records: ReadonlyMap<string, RecordInStore>;
  /** The media keys of removed uploads, by id. */
  readonly tombstones: ReadonlyMap<string, string>;
}

/** Reads all records and tombstones. */
export async function recordsIn(store: ObjectStore): Promise<Recorded> {
  const records = new Map<string, RecordInStore>();
  const tombstones = new Map<string, string>();
  for await (const { key } of listObjects(store, recordsPrefix)) {
    const bytes = await bytesOf(store, key);
    if (bytes) {
      const record = JSON.parse(bytes.toString()) as RecordInStore;
      if ('removed' in record) tombstones.set(record.id, record.media_key);
      else records.set(record.id, record);
    }
  }
  return { records, tombstones };
}

/** The bytes of an object, if it exists. */
export async function bytesOf(store: ObjectStore, key: string): Promise<Buffer | undefined> {
  const reading = await store.read(key);
  return reading && (await buffer(reading.body));
}

/** The keys of all objects below a prefix. */
export async function keysBelow(store: ObjectStore, prefix: string): Promise<string[]> {
  return Array.fromAsync(listObjects(store, prefix), ({ key }) => key);
}
