import { Readable } from 'node:stream';
import { mediaObject, newMediaKey, recordObject } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, newMediaId, type StoredRecord } from '@echodrop/record';

/** For tests: puts media and its record into a store as an upload does, and gives its id. */
export async function publishSample(
  store: ObjectStore,
  bytes: Buffer,
  record: Partial<StoredRecord> = {},
): Promise<string> {
  const id = newMediaId();
  const mediaKey = newMediaKey();
  const { etag, size } = await store.put(mediaObject(mediaKey), Readable.from([bytes]));
  const stored = {
    ...{ id, mediaKey, etag, size, type: 'jpg', width: 320, height: 240, text: 'Lunch' },
    timestamp: new Date('2026-11-21T11:36:34Z'),
    user: { id: 12345n, screenName: 'ada' },
    ...{ provider: 'https://id.example/verify', subject: '12345', application: 'test' },
    ...record,
  };
  await store.putIfAbsent(recordObject(id), encodeStoredRecord(stored));
  return id;
}
