import { mkdtempDisposable, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, recordKey, recordsPrefix } from '@echodrop/object-store/object-keys';
import { StoreUnavailable, type UnfinishedWrite } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, newMediaId } from '@echodrop/record';
import { expect, test, vi } from 'vitest';
import { listNewest, removeFromListings } from './listing.ts';
import { listingEntryOf, listingKeys } from './listing-keys.ts';
import { publishSample } from './publish-sample.fixture.ts';
import { RecordsMissing } from './records-missing.ts';
import { removeMedia } from './remove-media.ts';
import { sweep } from './sweep-orphans.ts';

const old = new Date(0);

interface Contents {
  readonly published?: number;
  readonly removed?: number;
  readonly others?: number;
  readonly old?: number;
  readonly young?: number;
  readonly renditions?: number;
}

/** A store that refuses to remove some objects, does not find others that it lists, and has unfinished writes of other applications. */
class ReluctantStore extends FilesystemObjectStore {
  readonly refused = new Set<string>();
  readonly missing = new Set<string>();
  readonly abandoned: string[] = [];
  writes: UnfinishedWrite[] = [];

  override async remove(key: string): Promise<void> {
    if (this.refused.has(key)) throw new StoreUnavailable('not allowed');
    await super.remove(key);
  }

  override async read(key: string) {
    return this.missing.has(key) ? undefined : super.read(key);
  }

  override async *listUnfinishedWrites(): AsyncGenerator<UnfinishedWrite> {
    yield* this.writes;
  }

  override async abortWrite({ id }: UnfinishedWrite): Promise<void> {
    this.abandoned.push(id);
  }
}

test('skips objects that it cannot remove and those of other applications', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
  await using store = new ReluctantStore(folder.path);
  await store.ready();
  const orphans = Array.from({ length: 3 }, () => mediaObjectKey(newMediaKey())).sort();
  for (const key of orphans) await store.put(key, Readable.from([Buffer.from('x')]));
  store.refused.add(orphans[0] ?? '');
  store.writes = [
    { id: 'of-others', key: 'backups/not ours', writtenAt: old },
    { id: 'of-theirs', key: 'backups/plain', writtenAt: old },
    { id: 'ours', key: mediaObjectKey(newMediaKey()), writtenAt: old },
  ];
  const { report, failure } = await sweep(store, {
    olderThanMs: -60_000,
    dryRun: false,
    force: true,
    signal: new AbortController().signal,
  });
  expect(failure).toBeInstanceOf(StoreUnavailable);
  expect(report.kinds.media).toEqual({ found: 3, removed: 2, bytes: 3 });
  expect(await Promise.all(orphans.map(async (key) => (await store.stat(key)) !== undefined))).toEqual([
    true,
    false,
    false,
  ]);
  expect(store.abandoned).toEqual(['ours']);
});

test('adds missing listing entries, except of removed and young uploads', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
  await using store = new FilesystemObjectStore(folder.path);
  await store.ready();
  const timestamp = new Date(Date.now() - 3_600_000);
  const listed = await publishSample(store, { timestamp });
  const halfListed = await publishSample(store, { timestamp });
  const notListed = await publishSample(store, { timestamp });
  const gone = await publishSample(store, { timestamp });
  const young = await publishSample(store, { timestamp: new Date() });
  await removeMedia(store, gone, { by: 'operator', at: new Date() });
  await store.remove(listingKeys(listingEntryOf(halfListed))[0] ?? '');
  for (const record of [notListed, young]) await removeFromListings(store, listingEntryOf(record));
  const sweeping = { olderThanMs: 0, signal: new AbortController().signal };
  const counted = async (dryRun: boolean) => (await sweep(store, { ...sweeping, dryRun })).report.listings;
  expect(await counted(true)).toEqual({ missing: 2, added: 0 });
  expect(await counted(false)).toEqual({ missing: 2, added: 2 });
  const ids = (await listNewest(store, { limit: 9 })).records.map(({ id }) => id);
  expect(ids.sort()).toEqual([listed.id, halfListed.id, notListed.id].sort());
  expect(await counted(false)).toEqual({ missing: 0, added: 0 });
});

test('a listed record that is not found prevents removals, but not the relisting of others', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
  await using store = new ReluctantStore(folder.path);
  await store.ready();
  const timestamp = new Date(Date.now() - 3_600_000);
  const others = [await publishSample(store, { timestamp }), await publishSample(store, { timestamp })];
  for (const other of others) await removeFromListings(store, listingEntryOf(other));
  const { id, mediaKey } = await publishSample(store);
  store.missing.add(recordKey(id));
  const { signal } = new AbortController();
  const { incomplete } = await sweep(store, { olderThanMs: -60_000, dryRun: false, signal });
  expect(incomplete?.message).toContain(`Record ${id} is unreadable (listed but not found)`);
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
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
  await using store = new FilesystemObjectStore(folder.path);
  await store.ready();
  const put = (key: string) => store.put(key, Readable.from([Buffer.from('x')]));
  const dayAgo = new Date(Date.now() - 24 * 3_600_000);
  const putOld = async (key: string) => {
    await put(key);
    await utimes(join(folder.path, 'objects', key), dayAgo, dayAgo);
  };
  for (let n = 0; n < published; n += 1) await publishSample(store);
  for (let n = 0; n < removed; n += 1) await removeMedia(store, await publishSample(store), { by: 'owner', at: new Date() });
  for (let n = 0; n < others; n += 1) await put(`records/${recordKey('AAAAAAAAAA')}`);
  for (let n = 0; n < old; n += 1) await putOld(mediaObjectKey(newMediaKey()));
  for (let n = 0; n < young; n += 1) await put(mediaObjectKey(newMediaKey()));
  for (let n = 0; n < renditions; n += 1) await putOld(`renditions/${newMediaKey()}/large-1.jpg`);
  const { signal } = new AbortController();
  const sweeping = sweep(store, { olderThanMs: 3_600_000, dryRun: false, signal });
  if (isSwept) expect((await sweeping).report.kinds.media).toMatchObject({ found: old, removed: old });
  else await expect(sweeping).rejects.toThrow(RecordsMissing);
});

test('keeps the media of an upload that is published during the sweep, also if its gateway was suspended for days before', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
  await using store = new FilesystemObjectStore(folder.path);
  for (let n = 0; n < 3; n += 1) await publishSample(store);
  const now = performance.now.bind(performance);
  const suspended = vi.spyOn(performance, 'now').mockImplementation(() => now() - 48 * 3_600_000);
  using _restored = { [Symbol.dispose]: () => suspended.mockRestore() };
  const mediaKey = newMediaKey();
  await store.put(mediaObjectKey(mediaKey), Readable.from([Buffer.from('media')]));
  const record = { ...(await publishSample(store)), id: newMediaId(), mediaKey };
  let isPublished = false;
  const publishing = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (name !== 'listKeys') return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: Parameters<typeof store.listKeys>) => {
        const keys = await store.listKeys(...args);
        if (args[0] !== recordsPrefix || isPublished) return keys;
        isPublished = true;
        await store.putIfAbsent(recordKey(record.id), encodeStoredRecord(record));
        return keys;
      };
    },
  });
  const { signal } = new AbortController();
  await sweep(publishing, { olderThanMs: 24 * 3_600_000, dryRun: false, signal });
  expect([isPublished, await store.exists(mediaObjectKey(mediaKey))]).toEqual([true, true]);
});
