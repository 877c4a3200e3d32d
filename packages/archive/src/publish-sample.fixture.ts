import { Readable } from 'node:stream';
import { mediaObjectKey, newMediaKey, recordKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { newStagedWrite } from '@echodrop/object-store/staged-write';
import { encodeStoredRecord, newMediaId, type StoredRecord } from '@echodrop/record';
import { addToListings } from './listing.ts';
import { listingEntryOf } from './listing-keys.ts';
import type { ResumableState } from './resumable-state.ts';
import { createResumable, type ResumableUpload } from './resumable-uploads.ts';

/** A record with new keys, unless `more` has them. */
export function sampleRecord(more: Partial<StoredRecord> = {}): StoredRecord {
  return {
    id: newMediaId(),
    mediaKey: newMediaKey(),
    etag: 'any',
    size: 5,
    type: 'jpg',
    width: 320,
    height: 240,
    text: 'Lunch',
    timestamp: new Date('2026-11-21T11:36:34Z'),
    user: { id: 12345n, screenName: 'ada' },
    provider: 'https://id.example/verify',
    subject: '12345',
    application: 'test',
    ...more,
  };
}

/** Writes media, record and listing entries as an upload does. */
export async function publishSample(
  store: ObjectStore,
  record: Partial<StoredRecord> = {},
  media: Buffer = Buffer.from('media'),
): Promise<StoredRecord> {
  const { mediaKey = newMediaKey() } = record;
  const { etag, size } = await store.put(mediaObjectKey(mediaKey), Readable.from([media]));
  const stored = sampleRecord({ mediaKey, etag, size, ...record });
  await store.putIfAbsent(recordKey(stored.id), encodeStoredRecord(stored));
  await addToListings(store, listingEntryOf(stored));
  return stored;
}

/** Begins a resumable upload of the same user; by default one without bytes, which expires in an hour. */
export function beginResumable(store: ObjectStore, state: Partial<ResumableState> = {}): Promise<ResumableUpload> {
  const mediaKey = newMediaKey();
  return createResumable(store, newMediaKey(), {
    provider: 'https://id.example/verify',
    subject: '12345',
    application: 'test',
    message: 'On the way',
    metadata: '',
    head: '',
    mediaKey,
    expires: new Date(Date.now() + 3_600_000),
    write: newStagedWrite(mediaObjectKey(mediaKey), 'application/octet-stream'),
    isPublished: false,
    ...state,
  });
}
