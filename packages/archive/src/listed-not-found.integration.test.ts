import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listObjects } from '@echodrop/object-store/list-objects';
import { recordKey } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch, type KeyPage, type ObjectStore } from '@echodrop/object-store/object-store';
import { type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkEntry, removeDeadEntries } from './check-entry.ts';
import { checkRecord } from './check-record.ts';
import { addToListings, listNewest } from './listing.ts';
import { ListingIndex } from './listing-index.ts';
import { listingEntryOf, listingKeys, listingPrefixes } from './listing-keys.ts';
import { publishSample } from './publish-sample.fixture.ts';
import { rebuildListings } from './rebuild-listings.ts';
import { listRecordsOf } from './records.ts';

/** A store that lists an object but does not find it, like a MinIO node that was down during the write. */
class ForgetfulStore extends FilesystemObjectStore {
  missing = '';

  override async read(key: string) {
    return key === this.missing ? undefined : super.read(key);
  }
}

let parts: AsyncDisposableStack;
let store: ForgetfulStore;
let record: StoredRecord;
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'archive-test-')));
  store = parts.use(new ForgetfulStore(path));
  await store.ready();
  record = await publishSample(store);
  await addToListings(store, listingEntryOf(record));
  store.missing = recordKey(record.id);
});
afterEach(() => parts.disposeAsync());

test('a listed record that is not found may belong to any owner', async () => {
  const found = await Array.fromAsync(listRecordsOf(store, record));
  expect(found).toEqual([{ id: record.id, found: expect.any(UnreadableRecord) }]);
});

test('a listed record that is not found is reported as unreadable', async () => {
  const listings = new ListingIndex();
  const { signal } = new AbortController();
  const checks = { isMoved: false, shouldReadBytes: false, listings, published: listings, signal };
  const faults = await checkRecord(store, store.missing, checks);
  expect(faults).toMatchObject([{ fault: 'record_unreadable', key: store.missing }]);
});

test('a list skips a record with a wrong checksum', async () => {
  const damaged = store.missing;
  store.missing = '';
  const other = await publishSample(store);
  await addToListings(store, listingEntryOf(other));
  const read = vi.spyOn(store, 'read').mockImplementation(async (key) => {
    const reading = await ForgetfulStore.prototype.read.call(store, key);
    const body = new Readable({ read: () => body.destroy(new ChecksumMismatch('checksum')) });
    return reading && { ...reading, body: key === damaged ? body : reading.body };
  });
  const unreadable: string[] = [];
  const { records } = await listNewest(store, { limit: 9, unreadable: (id) => unreadable.push(id) });
  expect(records.map(({ id }) => id)).toEqual([other.id]);
  expect(unreadable).toEqual([record.id]);
  read.mockRestore();
});

/** `store`, as S3: an object may be missing at the first look. Notes the prefixes of lists. */
function remembering(listed: string[]): ObjectStore {
  const own = {
    rereadMs: 1,
    async read(key: string) {
      const reading = await store.read(key);
      store.missing = '';
      return reading;
    },
    async listKeys(prefix: string, page: KeyPage) {
      listed.push(prefix);
      return store.listKeys(prefix, page);
    },
  };
  return new Proxy(store, {
    get: (target, name) => Reflect.get(own, name) ?? Reflect.get(target, name).bind(target),
  });
}

test('keeps the entries of a record that is found at the second look', async () => {
  const [key = ''] = listingKeys(listingEntryOf(record));
  const { missing } = store;
  const { signal } = new AbortController();
  expect(await checkEntry(remembering([]), key, signal)).toEqual([]);
  store.missing = missing;
  expect(await Array.fromAsync(removeDeadEntries(remembering([])))).toEqual([]);
});

test('a rebuild keeps the entries of a listed record that it does not find', async () => {
  const rebuilt = await Array.fromAsync(rebuildListings(store));
  expect(rebuilt).toEqual([{ kind: 'unreadable', id: record.id, error: expect.any(UnreadableRecord) }]);
});

test('finds and removes entries without a record, whatever the number of records: lists none', async () => {
  await store.remove(store.missing);
  const keys = listingKeys(listingEntryOf(record));
  const { signal } = new AbortController();
  const listed: string[] = [];
  for (const key of keys)
    expect(await checkEntry(remembering(listed), key, signal)).toEqual([{ fault: 'lists_nothing', key }]);
  expect((await Array.fromAsync(removeDeadEntries(remembering(listed)))).sort()).toEqual(keys.toSorted());
  expect(listed).toEqual(listingPrefixes);
  for (const prefix of listingPrefixes) expect(await Array.fromAsync(listObjects(store, prefix))).toEqual([]);
});
