import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listObjects } from '@echodrop/object-store/list-objects';
import { recordKey } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch } from '@echodrop/object-store/object-store';
import { type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { removeDeadEntries } from './check-entry.ts';
import { checkRecord } from './check-record.ts';
import { listRecordsOf } from './every-record.ts';
import { addToListings, listingEntryOf, listingPrefixes, listNewest } from './listing.ts';
import { publishSample } from './publish-sample.fixture.ts';

/** A store that lists an object and does not find it, as a node of MinIO does for a moment that was gone when it was written. */
class ReturningStore extends FilesystemObjectStore {
  unfound = '';

  override async read(key: string) {
    return key === this.unfound ? undefined : super.read(key);
  }
}

let parts: AsyncDisposableStack;
let store: ReturningStore;
let record: StoredRecord;
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'archive-test-')));
  store = parts.use(new ReturningStore(path));
  await store.ready();
  record = await publishSample(store);
  await addToListings(store, listingEntryOf(record));
  store.unfound = recordKey(record.id);
});
afterEach(() => parts.disposeAsync());

test('such a record may be of everybody, for those who look for what is of one', async () => {
  const found = await Array.fromAsync(listRecordsOf(store, record));
  expect(found).toEqual([{ id: record.id, found: expect.any(UnreadableRecord) }]);
});

test('such a record is told to be unreadable', async () => {
  const closeness = { isMoved: false, readsBytes: false };
  const faults = await checkRecord(store, store.unfound, closeness, new AbortController().signal);
  expect(faults).toMatchObject([{ fault: 'record_unreadable', key: store.unfound }]);
});

test('a record whose bytes differ from their checksum keeps no other out of a list', async () => {
  const damaged = store.unfound;
  store.unfound = '';
  const other = await publishSample(store);
  await addToListings(store, listingEntryOf(other));
  const read = vi.spyOn(store, 'read').mockImplementation(async (key) => {
    const reading = await ReturningStore.prototype.read.call(store, key);
    const body = new Readable({ read: () => body.destroy(new ChecksumMismatch('they differ')) });
    return reading && { ...reading, body: key === damaged ? body : reading.body };
  });
  const unreadable: string[] = [];
  const { records } = await listNewest(store, { limit: 9, unreadable: (id) => unreadable.push(id) });
  expect(records.map(({ id }) => id)).toEqual([other.id]);
  expect(unreadable).toEqual([record.id]);
  read.mockRestore();
});

test('the entries of such a record stay, and those of none are struck', async () => {
  expect(await Array.fromAsync(removeDeadEntries(store))).toEqual([]);
  await store.remove(store.unfound);
  const struck = await Array.fromAsync(removeDeadEntries(store));
  expect(struck).toHaveLength(2);
  for (const prefix of listingPrefixes) expect(await Array.fromAsync(listObjects(store, prefix))).toEqual([]);
});
