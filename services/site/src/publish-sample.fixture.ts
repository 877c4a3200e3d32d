import { Readable } from 'node:stream';
import { enter, listedAs } from '@echodrop/archive/listing';
import { mediaObject, newMediaKey, recordObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, newMediaId, type StoredRecord } from '@echodrop/record';

/** For tests: puts media, its record and its entries into a store as an upload does, and gives its id; `record` says what is not as usual. */
export async function publishSample(
  store: ObjectStore,
  bytes: Buffer,
  record: Partial<StoredRecord> = {},
): Promise<string> {
  const { id = newMediaId(), mediaKey = newMediaKey() } = record;
  const { etag, size } = await store.put(mediaObject(mediaKey), Readable.from([bytes]));
  const stored = {
    ...{ id, mediaKey, etag, size, type: 'jpg', width: 320, height: 240, text: 'Lunch' },
    timestamp: new Date('2026-11-21T11:36:34Z'),
    user: { id: 12345n, screenName: 'ada' },
    ...{ provider: 'https://id.example/verify', subject: '12345', application: 'test' },
    ...record,
  };
  await store.putIfAbsent(recordObject(id), encodeStoredRecord(stored));
  await enter(store, listedAs(stored));
  return id;
}
