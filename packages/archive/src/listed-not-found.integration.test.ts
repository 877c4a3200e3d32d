import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { everyObject } from '@echodrop/object-store/every-object';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { recordObject } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch } from '@echodrop/object-store/object-store';
import { type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { strikeDeadEntries } from './check-entry.ts';
import { checkRecord } from './check-record.ts';
import { everyRecordOf } from './every-record.ts';
import { allEntries, enter, listedAs, newest } from './listing.ts';
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
  await enter(store, listedAs(record));
  store.unfound = recordObject(record.id);
});
afterEach(() => parts.disposeAsync());

test('such a record may be of everybody, for those who look for what is of one', async () => {
  const found = await Array.fromAsync(everyRecordOf(store, record));
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
  await enter(store, listedAs(other));
  const read = vi.spyOn(store, 'read').mockImplementation(async (key) => {
    const reading = await ReturningStore.prototype.read.call(store, key);
    const body = new Readable({ read: () => body.destroy(new ChecksumMismatch('they differ')) });
    return reading && { ...reading, body: key === damaged ? body : reading.body };
  });
  const unreadable: string[] = [];
  const { records } = await newest(store, { limit: 9, unreadable: (id) => unreadable.push(id) });
  expect(records.map(({ id }) => id)).toEqual([other.id]);
  expect(unreadable).toEqual([record.id]);
  read.mockRestore();
});

test('the entries of such a record stay, and those of none are struck', async () => {
  expect(await Array.fromAsync(strikeDeadEntries(store))).toEqual([]);
  await store.remove(store.unfound);
  const struck = await Array.fromAsync(strikeDeadEntries(store));
  expect(struck).toHaveLength(2);
  for (const prefix of allEntries) expect(await Array.fromAsync(everyObject(store, prefix))).toEqual([]);
});
