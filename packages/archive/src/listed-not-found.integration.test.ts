import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listObjects } from '@echodrop/object-store/list-objects';
import { recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch, type KeyPage, type ObjectStore } from '@echodrop/object-store/object-store';
import { type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { beforeEach, expect, test, vi } from 'vitest';
import { checkEntry } from './check-entry.ts';
import { checkRecord } from './check-record.ts';
import { useFolderStore } from './folder-store.fixture.ts';
import { listNewest } from './listing.ts';
import { ListingIndex } from './listing-index.ts';
import { listingEntryOf, listingKeys, listingPrefixes } from './listing-keys.ts';
import { publishSample } from './publish-sample.fixture.ts';
import { rebuildListings } from './rebuild-listings.ts';
import { listRecordsOf } from './records.ts';

const opened = useFolderStore();
let store: FilesystemObjectStore;
let record: StoredRecord;
/** The key of an object that the store lists but does not find, like a MinIO node that was down during the write. */
let missing: string;
beforeEach(async () => {
  store = opened.store;
  record = await publishSample(store);
  missing = recordKey(record.id);
  const { read } = store;
  vi.spyOn(store, 'read').mockImplementation(async (key, options) =>
    key === missing ? undefined : read.call(store, key, options),
  );
});

test('a listed record that is not found may belong to any owner', async () => {
  const found = await Array.fromAsync(listRecordsOf(store, record));
  expect(found).toEqual([{ id: record.id, found: expect.any(UnreadableRecord) }]);
});

test('a listed record that is not found is reported as unreadable', async () => {
  const listings = new ListingIndex();
  const checks = { isMoved: false, shouldReadBytes: false, listings, published: listings };
  const faults = await checkRecord(store, missing, checks);
  expect(faults).toMatchObject([
    { kind: 'fault', key: missing, text: expect.stringContaining('listed but not found') },
  ]);
});

test('a list skips a record with a wrong checksum', async () => {
  const other = await publishSample(store);
  vi.mocked(store.read).mockImplementation(async (key) => {
    const reading = await FilesystemObjectStore.prototype.read.call(store, key);
    if (key === missing) reading?.body.destroy(new ChecksumMismatch('checksum'));
    return reading;
  });
  const unreadable: string[] = [];
  const { records } = await listNewest(store, { limit: 9, unreadable: (id) => unreadable.push(id) });
  expect(records.map(({ id }) => id)).toEqual([other.id]);
  expect(unreadable).toEqual([record.id]);
});

/** `store`, as S3: an object may be missing at the first look. Notes the prefixes of lists. */
function remembering(listed: string[]): ObjectStore {
  const own = {
    rereadMs: 1,
    async read(key: string) {
      const reading = await store.read(key);
      missing = '';
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
  expect(await checkEntry(remembering([]), key)).toEqual([]);
});

test('a rebuild keeps the entries of a listed record that it does not find', async () => {
  const rebuilt = await Array.fromAsync(rebuildListings(store));
  expect(rebuilt).toEqual([
    { kind: 'unreadable', problem: expect.stringContaining(`${record.id}: record unreadable`) },
  ]);
  // The store is likely to find it soon.
  expect(rebuilt[0]?.problem).not.toContain('delete');
});

test('finds and removes entries without a record, whatever the number of records: lists none', async () => {
  await store.remove(missing);
  const keys = listingKeys(listingEntryOf(record));
  const listed: string[] = [];
  for (const key of keys)
    expect(await checkEntry(remembering(listed), key)).toEqual([
      { key, kind: 'fault', text: 'listing entry without a published upload. Run rebuild-listings.' },
    ]);
  expect(listed).toEqual([]);
  expect(await Array.fromAsync(rebuildListings(remembering(listed)))).toEqual(keys.map(() => ({ kind: 'stale' })));
  expect(listed).toEqual([...listingPrefixes, recordsPrefix, ...listingPrefixes]);
  for (const prefix of listingPrefixes) expect(await Array.fromAsync(listObjects(store, prefix))).toEqual([]);
});
