import { Readable } from 'node:stream';
import { mediaObjectKey, newMediaKey, recordKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, newMediaId, type StoredRecord } from '@echodrop/record';
import { addToListings } from './listing.ts';
import { listingEntryOf } from './listing-keys.ts';

/** Writes media, record and listing entries as an upload does. */
export async function publishSample(
  store: ObjectStore,
  record: Partial<StoredRecord> = {},
  media: Buffer = Buffer.from('media'),
): Promise<StoredRecord> {
  const { id = newMediaId(), mediaKey = newMediaKey() } = record;
  const { etag, size } = await store.put(mediaObjectKey(mediaKey), Readable.from([media]));
  const stored = {
    id,
    mediaKey,
    etag,
    size,
    type: 'jpg',
    width: 320,
    height: 240,
    text: 'Lunch',
    timestamp: new Date('2026-11-21T11:36:34Z'),
    user: { id: 12345n, screenName: 'ada' },
    provider: 'https://id.example/verify',
    subject: '12345',
    application: 'test',
    ...record,
  };
  await store.putIfAbsent(recordKey(stored.id), encodeStoredRecord(stored));
  await addToListings(store, listingEntryOf(stored));
  return stored;
}
