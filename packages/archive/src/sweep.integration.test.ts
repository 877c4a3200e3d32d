import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { mediaObjectKey, mediaPrefix, newMediaKey, recordKey } from '@echodrop/object-store/object-keys';
import { StoreUnavailable } from '@echodrop/object-store/object-store';
import { encodeStoredRecord } from '@echodrop/record';
import { expect, test, vi } from 'vitest';
import { findOrphans } from './find-orphans.ts';
import { useFolderStore } from './folder-store.fixture.ts';
import { listNewest, removeFromListings } from './listing.ts';
import { listingEntryOf, listingKeys } from './listing-keys.ts';
import { publishSample, sampleRecord } from './publish-sample.fixture.ts';
import { removeMedia } from './remove-media.ts';
import { RecordsMissing, sweep } from './sweep.ts';

const old = new Date(0);

interface Contents {
  readonly published?: number;
  readonly removed?: number;
  readonly others?: number;
  readonly old?: number;
  readonly young?: number;
  readonly renditions?: number;
}

const opened = useFolderStore();

const setTime = (key: string, time: Date) => utimes(join(opened.folder, 'objects', key), time, time);

test('skips objects that it cannot remove and those of other applications', async () => {
  const { store } = opened;
  const orphans = Array.from({ length: 3 }, () => mediaObjectKey(newMediaKey())).sort();
  for (const key of orphans) await store.put(key, Readable.from([Buffer.from('x')]));
  const { remove } = store;
  vi.spyOn(store, 'remove').mockImplementation(async (key) => {
    if (key === orphans[0]) throw new StoreUnavailable('not allowed');
    return remove.call(store, key);
  });
  vi.spyOn(store, 'listUnfinishedWrites').mockImplementation(async function* () {
    yield { id: 'of-others', key: 'backups/not ours', writtenAt: old };
    yield { id: 'of-theirs', key: 'backups/plain', writtenAt: old };
    yield { id: 'ours', key: mediaObjectKey(newMediaKey()), writtenAt: old };
  });
  const abortWrite = vi.spyOn(store, 'abortWrite').mockResolvedValue();
  const { report, failure } = await sweep(store, {
    olderThanMs: -60_000,
    dryRun: false,
    force: true,
  });
  expect(failure).toBeInstanceOf(StoreUnavailable);
  expect(report.kinds.media).toEqual({ found: 3, removed: 2, bytes: 3 });
  expect(await Promise.all(orphans.map(async (key) => (await store.stat(key)) !== undefined))).toEqual([
    true,
    false,
    false,
  ]);
  expect(abortWrite.mock.calls.map(([{ id }]) => id)).toEqual(['ours']);
});

test('adds missing listing entries, except of removed and young uploads', async () => {
  const { store } = opened;
  const timestamp = new Date(Date.now() - 3_600_000);
  const listed = await publishSample(store, { timestamp });
  const halfListed = await publishSample(store, { timestamp });
  const notListed = await publishSample(store, { timestamp });
  const gone = await publishSample(store, { timestamp });
  const young = await publishSample(store, { timestamp: new Date() });
  await removeMedia(store, gone, { by: 'operator', at: new Date() });
  await store.remove(listingKeys(listingEntryOf(halfListed))[0] ?? '');
  for (const record of [notListed, young]) await removeFromListings(store, listingEntryOf(record));
  const sweeping = { olderThanMs: 0 };
  const counted = async (dryRun: boolean) => (await sweep(store, { ...sweeping, dryRun })).report.listings;
  expect(await counted(true)).toEqual({ missing: 2, added: 0 });
  expect(await counted(false)).toEqual({ missing: 2, added: 2 });
  const ids = (await listNewest(store, { limit: 9 })).records.map(({ id }) => id);
  expect(ids.sort()).toEqual([listed.id, halfListed.id, notListed.id].sort());
  expect(await counted(false)).toEqual({ missing: 0, added: 0 });
});

test('a listed record that is not found prevents removals, but not the relisting of others', async () => {
  const { store } = opened;
  const timestamp = new Date(Date.now() - 3_600_000);
  const others = [await publishSample(store, { timestamp }), await publishSample(store, { timestamp })];
  for (const other of others) await removeFromListings(store, listingEntryOf(other));
  const { id, mediaKey } = await publishSample(store);
  const { read } = store;
  vi.spyOn(store, 'read').mockImplementation(async (key, options) =>
    key === recordKey(id) ? undefined : read.call(store, key, options),
  );
  const { incomplete } = await sweep(store, { olderThanMs: -60_000, dryRun: false });
  expect(String(incomplete)).toContain(`Record ${id} is unreadable (listed but not found)`);
  expect(await store.stat(mediaObjectKey(mediaKey))).toBeDefined();
  const ids = (await listNewest(store, { limit: 9 })).records.map((record) => record.id);
  expect(ids.sort()).toEqual(others.map((other) => other.id).sort());
});

// biome-ignore format: a table, one row per line
test.each<[why: string, Contents, isSwept: boolean]>([
  ['20 failed uploads in a new system', { published: 1, old: 20 }, true],
  ['more, and most of all media', { published: 20, old: 21 }, false],
  ['more, and half of all media', { published: 21, old: 21 }, true],
  ['some, and no record at all', { old: 1 }, false],
  ['some, if all uploads were removed', { removed: 1, old: 1 }, true],
  ['some, and an object that is not a record', { others: 1, old: 1 }, false],
  ['a backup during its restore', { young: 30, old: 0 }, true],
  ['a backup during its restore, and some', { published: 1, young: 30, old: 20 }, true],
  ['renditions without media', { published: 1, renditions: 30 }, true],
])('media without records, %s (%j): swept: %s', async (_, { published = 0, removed = 0, others = 0, old = 0, young = 0, renditions = 0 }, isSwept) => {
  const { store } = opened;
  const put = (key: string) => store.put(key, Readable.from([Buffer.from('x')]));
  const dayAgo = new Date(Date.now() - 24 * 3_600_000);
  const putOld = async (key: string) => {
    await put(key);
    await setTime(key, dayAgo);
  };
  for (let n = 0; n < published; n += 1) await publishSample(store);
  for (let n = 0; n < removed; n += 1) await removeMedia(store, await publishSample(store), { by: 'owner', at: new Date() });
  for (let n = 0; n < others; n += 1) await put(`records/${recordKey('AAAAAAAAAA')}`);
  for (let n = 0; n < old; n += 1) await putOld(mediaObjectKey(newMediaKey()));
  for (let n = 0; n < young; n += 1) await put(mediaObjectKey(newMediaKey()));
  for (let n = 0; n < renditions; n += 1) await putOld(`renditions/${newMediaKey()}/large-1.jpg`);
  const sweeping = sweep(store, { olderThanMs: 3_600_000, dryRun: false });
  if (isSwept) expect((await sweeping).report.kinds.media).toMatchObject({ found: old, removed: old });
  else await expect(sweeping).rejects.toThrow(RecordsMissing);
});

test.each([
  ['published', undefined],
  ['restored with its time', old],
])('keeps old media whose record is %s during the sweep', async (_, time) => {
  const { store } = opened;
  for (let n = 0; n < 3; n += 1) await publishSample(store);
  const late = sampleRecord();
  await store.put(mediaObjectKey(late.mediaKey), Readable.from([Buffer.from('media')]));
  await setTime(mediaObjectKey(late.mediaKey), old);
  const { listKeys } = store;
  const lists = vi.spyOn(store, 'listKeys').mockImplementation(async (prefix, page) => {
    // After the records.
    if (prefix === mediaPrefix) await store.putIfAbsent(recordKey(late.id), encodeStoredRecord(late));
    if (prefix === mediaPrefix && time) await setTime(recordKey(late.id), time);
    return listKeys.call(store, prefix, page);
  });
  const { report } = await sweep(store, { olderThanMs: 24 * 3_600_000, dryRun: false });
  expect(lists).toHaveBeenCalledWith(mediaPrefix, expect.anything());
  expect([report.kinds.media.found, await store.exists(mediaObjectKey(late.mediaKey))]).toEqual([0, true]);
});

test('a search finds no orphan among what is written or restored during it', async () => {
  const { store } = opened;
  await publishSample(store);
  await store.put(mediaObjectKey(newMediaKey()), Readable.from([Buffer.from('an orphan')]));
  const { orphans } = await findOrphans(store);
  await publishSample(store, { timestamp: new Date() });
  const restored = await publishSample(store);
  for (const key of [recordKey(restored.id), mediaObjectKey(restored.mediaKey)]) await setTime(key, old);
  expect(await Array.fromAsync(orphans, ({ object }) => object.size)).toEqual([9]);
});

test('media that a suspended machine has written is as old as it is by the clock', async () => {
  const { store } = opened;
  await publishSample(store);
  const now = performance.now.bind(performance);
  const suspended = vi.spyOn(performance, 'now').mockImplementation(() => now() - 48 * 3_600_000);
  using _restored = { [Symbol.dispose]: () => suspended.mockRestore() };
  const { key } = await store.put(mediaObjectKey(newMediaKey()), Readable.from([Buffer.from('media')]));
  await sweep(store, { olderThanMs: 24 * 3_600_000, dryRun: false });
  expect(await store.exists(key)).toBe(true);
});
