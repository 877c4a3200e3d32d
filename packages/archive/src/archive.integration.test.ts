import { writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listKeys } from '@echodrop/object-store/list-objects';
import { listingPrefix, mediaObjectKey, recordKey } from '@echodrop/object-store/object-keys';
import { encodeStoredRecord, type StoredRecord, UnreadableRecord } from '@echodrop/record';
import { beforeEach, expect, test, vi } from 'vitest';
import { block, blockKey, findBlock, listBlockKeys, readBlocks, UnreadableBlock, unblock } from './blocks.ts';
import { useFolderStore } from './folder-store.fixture.ts';
import { listNewest, removeFromListings } from './listing.ts';
import { flatListingKeys, listingEntryOf, listingKeys, parseListingKey } from './listing-keys.ts';
import { isOwnerHash, ownerHash } from './owner.ts';
import { publishSample } from './publish-sample.fixture.ts';
import { findRecord, listRecords } from './records.ts';
import { finishRemoval, removeMedia } from './remove-media.ts';

const ada = { provider: 'https://id.example/verify', subject: '12345' };
const bob = { provider: 'https://id.example/verify', subject: '12346' };
const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));

const opened = useFolderStore();
let folder: string;
let store: FilesystemObjectStore;
beforeEach(() => {
  ({ folder, store } = opened);
});

function publish(timestamp: Date, owner = ada): Promise<StoredRecord> {
  return publishSample(store, { timestamp, ...owner });
}

async function pages(request: { owner?: string; limit: number }): Promise<string[][]> {
  const found = [];
  for (let after: string | undefined; ; ) {
    const { records, next } = await listNewest(store, { ...request, after });
    found.push(records.map(({ id }) => id));
    if (next === undefined) return found;
    after = next;
  }
}

test('lists uploads newest first in pages, of all owners or of one', async () => {
  const owners = [ada, bob, ada, ada, bob, ada];
  const records = [];
  for (const [second, owner] of owners.entries()) records.unshift(await publish(at(second), owner));
  const ids = records.map(({ id }) => id);
  expect(await pages({ limit: 10 })).toEqual([ids]);
  expect(await pages({ limit: 6 })).toEqual([ids]);
  expect(await pages({ limit: 4 })).toEqual([ids.slice(0, 4), ids.slice(4)]);
  const adas = records.filter(({ subject }) => subject === ada.subject).map(({ id }) => id);
  expect(await pages({ owner: ownerHash(ada), limit: 3 })).toEqual([adas.slice(0, 3), adas.slice(3)]);
  expect(await pages({ owner: '0'.repeat(32), limit: 3 })).toEqual([[]]);
  expect((await listNewest(store, { limit: 1 })).records).toEqual(records.slice(0, 1));
});

test('lists all uploads of the same millisecond', async () => {
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push((await publish(at(0))).id);
  expect((await pages({ limit: 2 })).flat().sort()).toEqual(ids.sort());
});

test('lists the entries of release 0.1.0 among the others, each upload once', async () => {
  const dayMs = 100_000_000;
  const times = Array.from({ length: 30 }, (_, n) => new Date(at(0).getTime() - Math.floor(n / 5) * dayMs - (n % 5)));
  const ids: string[] = [];
  for (const [n, time] of times.entries()) {
    const record = await publish(time);
    ids.push(record.id);
    const entry = listingEntryOf(record);
    const keys = flatListingKeys(listingEntryOf(record));
    if (n % 3 === 0) await removeFromListings(store, entry);
    if (n % 3 < 2) for (const key of keys) await store.putIfAbsent(key, Buffer.alloc(0));
  }
  for (const limit of [1, 2, 3, 7, 29, 30, 31]) {
    expect((await pages({ limit })).flat()).toEqual(ids);
    expect((await pages({ owner: ownerHash(ada), limit })).flat()).toEqual(ids);
  }
  const [record] = (await listNewest(store, { limit: 1 })).records;
  await removeMedia(store, record ?? expect.fail('none'), { by: 'owner', at: at(1) });
  expect((await pages({ limit: 7 })).flat()).toEqual(ids.slice(1));
  expect(await Array.fromAsync(listKeys(store, listingPrefix()), parseListingKey)).not.toContainEqual(
    expect.objectContaining({ id: record?.id }),
  );
});

test('objects of others among the entries end no list', async () => {
  const older = await publish(at(1));
  const newer = [await publish(at(3)), await publish(at(2))];
  for (const entry of newer.map(listingEntryOf)) {
    await removeFromListings(store, entry);
    for (const key of flatListingKeys(entry)) await store.putIfAbsent(key, Buffer.alloc(0));
  }
  for (const name of ['0', '0000000000000-aaaaaaaaa', 'days/0/a', 'days/82050/8305000000000-aaaaaaaaaa', 'x/y', 'z'])
    await store.putIfAbsent(`${listingPrefix()}${name}`, Buffer.alloc(0));
  for (const limit of [2, 3, 6]) expect((await pages({ limit })).flat()).toEqual([...newer, older].map(({ id }) => id));
});

async function writeCopies(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  for (let copy = 0; copy < 9; copy += 1) await writeFile(`${path}${copy}`, '');
}

test.each([
  ['files of macOS', (path: string, name: string) => [`${path}/._${name}`, `${path}/.DS_Store`, `${path}._`]],
  ['copies', (path: string, name: string) => [`${path}/${name}~`, `${path}/${name}.bak`]],
  ['thumbnails of a NAS', (path: string, name: string) => [`${path}/@eaDir/${name}`, `${path}/../@eaDir/${name}`]],
  ['temporary files', (path: string, name: string) => [`${path}/~${name}`, `${path}/.~tmp~/${name}`]],
])('%s among the entries hide none', async (_, others) => {
  const dayMs = 100_000_000;
  const ids: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    const record = await publish(new Date(at(0).getTime() - Math.floor(n / 3) * dayMs - n));
    ids.push(record.id);
    const entry = listingEntryOf(record);
    if (n % 4 === 0) await removeFromListings(store, entry);
    for (const key of n % 4 === 0 ? flatListingKeys(entry) : listingKeys(entry)) {
      await store.putIfAbsent(key, Buffer.alloc(0));
      for (const path of others(join(folder, 'objects', dirname(key)), basename(key))) await writeCopies(path);
    }
  }
  for (const limit of [1, 2, 5, 12, 50]) {
    expect((await pages({ limit })).flat()).toEqual(ids);
    expect((await pages({ owner: ownerHash(ada), limit })).flat()).toEqual(ids);
  }
});

test('a list that cannot find the next entry among files of other programs fails', async () => {
  const { id, timestamp } = await publish(at(0));
  const [, key = ''] = listingKeys({ id, timestamp, owner: ownerHash(ada) });
  // Only their length distinguishes them from an entry.
  const path = dirname(join(folder, 'objects', key));
  const before = basename(key).slice(0, 14);
  for (let n = 0; n < 11_000; n += 1) writeFileSync(join(path, `${before}00000${n}0000000`), '');
  await expect(listNewest(store, { limit: 5 })).rejects.toThrow(
    'too many objects of other programs below by-time/days/',
  );
});

test('skips entries with a missing or different record, and still fills pages', async () => {
  const records = [];
  for (let second = 0; second < 6; second += 1) records.unshift(await publish(at(second)));
  const [newestOne, , third] = records as [StoredRecord, StoredRecord, StoredRecord];
  await store.remove(recordKey(newestOne.id));
  // The right owner at a wrong time, and another owner at the right time.
  const [entry] = (await store.list(listingPrefix(ownerHash(ada)), { limit: 9 })).filter(({ key }) =>
    key.endsWith(third.id),
  );
  const misplaced = [
    `${listingPrefix(ownerHash(ada))}${'0'.repeat(13)}-${third.id}`,
    `${listingPrefix(ownerHash(bob))}${entry?.key.split('/').at(-1)}`,
  ];
  for (const key of misplaced) await store.putIfAbsent(key, Buffer.alloc(0));
  expect(await pages({ owner: ownerHash(ada), limit: 2 })).toEqual([
    [records[1]?.id, records[2]?.id],
    [records[3]?.id, records[4]?.id],
    [records[5]?.id],
  ]);
  expect(await pages({ owner: ownerHash(bob), limit: 2 })).toEqual([[]]);
});

test('reports an unreadable record and lists the others', async () => {
  const oldest = await publish(at(0));
  const broken = await publish(at(1));
  const latest = await publish(at(2));
  await store.put(recordKey(broken.id), Readable.from([Buffer.from('{"broken')]));
  const unreadable: string[] = [];
  const { records } = await listNewest(store, { limit: 9, unreadable: (id) => unreadable.push(id) });
  expect([records, unreadable]).toEqual([[latest, oldest], [broken.id]]);
});

test('ends a page after many entries without a record, with a cursor', async () => {
  const oldest = await publish(at(0));
  for (let second = 1; second < 8; second += 1) await store.remove(recordKey((await publish(at(second))).id));
  const found = await pages({ limit: 1 });
  expect(found.flat()).toEqual([oldest.id]);
  expect(found.length).toBeLessThan(8);
});

test.each(['', '..', '0-0', 'a'.repeat(24), `${'1'.repeat(13)}-aaaaaaaaaa/`])(
  'rejects the cursor %j',
  async (after) => {
    await expect(listNewest(store, { after, limit: 1 })).rejects.toThrow(RangeError);
  },
);

test('a removal leaves a tombstone, and no listing entries, media or renditions', async () => {
  const record = await publish(at(0));
  const other = await publish(at(1));
  for (const { mediaKey } of [record, other])
    await store.put(`renditions/${mediaKey}/large-1.jpg`, Readable.from([Buffer.from('picture')]));
  const removed = { by: 'owner', at: at(9) } as const;
  await removeMedia(store, record, removed);
  expect(await findRecord(store, record.id)).toEqual({ ...listingEntryOf(record), mediaKey: record.mediaKey, removed });
  expect(await store.stat(mediaObjectKey(record.mediaKey))).toBeUndefined();
  expect(await store.list(`renditions/${record.mediaKey}/`, { limit: 10 })).toEqual([]);
  expect(await store.list(listingPrefix(ownerHash(ada)), { limit: 10 })).toHaveLength(1);
  expect(await store.list(listingPrefix(), { limit: 10 })).toHaveLength(1);
  expect(await findRecord(store, other.id)).toEqual(other);
  expect(await store.stat(`renditions/${other.mediaKey}/large-1.jpg`)).toBeDefined();
  expect(await store.putIfAbsent(recordKey(record.id), encodeStoredRecord(record))).toBe('exists');
});

test('finishRemoval completes an interrupted removal', async () => {
  const record = await publish(at(0));
  const remove = vi.spyOn(store, 'remove').mockRejectedValue(new Error('down'));
  await expect(removeMedia(store, record, { by: 'operator', at: at(9) })).rejects.toThrow('down');
  remove.mockRestore();
  const tombstone = await findRecord(store, record.id);
  if (!tombstone || !('removed' in tombstone)) expect.fail('no tombstone');
  expect(await store.stat(mediaObjectKey(record.mediaKey))).toBeDefined();
  await finishRemoval(store, tombstone);
  await finishRemoval(store, tombstone);
  expect(await store.stat(mediaObjectKey(record.mediaKey))).toBeUndefined();
  expect(await pages({ limit: 5 })).toEqual([[]]);
});

test('a removal fails and removes nothing if the store loses the tombstone', async () => {
  const record = await publish(at(0));
  vi.spyOn(store, 'put').mockResolvedValue({ key: '', size: 0, etag: '', crc32: '' });
  await expect(removeMedia(store, record, { by: 'owner', at: at(9) })).rejects.toThrow('tombstone');
  expect(await findRecord(store, record.id)).toEqual(record);
  expect(await store.stat(mediaObjectKey(record.mediaKey))).toBeDefined();
  expect(await pages({ limit: 5 })).toEqual([[record.id]]);
});

test('finds all records, tombstones and unreadable records', async () => {
  const records = [];
  for (let second = 0; second < 40; second += 1) records.push(await publish(at(second)));
  const [removed, unreadable, ...others] = records as [StoredRecord, StoredRecord, ...StoredRecord[]];
  await removeMedia(store, removed, { by: 'operator', at: at(50) });
  await store.put(recordKey(unreadable.id), Readable.from([Buffer.from('{}')]));
  const found = new Map((await Array.fromAsync(listRecords(store))).map((each) => [each.id, each.found]));
  expect(found.size).toBe(40);
  expect(found.get(removed.id)).toHaveProperty('removed.by', 'operator');
  expect(found.get(unreadable.id)).toBeInstanceOf(UnreadableRecord);
  for (const record of others) expect(found.get(record.id)).toEqual(record);
});

test('only a media id becomes a key', async () => {
  for (const id of ['../media/x', 'a/b', '', 'x'.repeat(10_000)]) expect(await findRecord(store, id)).toBeUndefined();
});

test('different owners have different hashes', () => {
  expect(isOwnerHash(ownerHash(ada))).toBe(true);
  expect(ownerHash(ada)).toBe(ownerHash({ ...ada }));
  expect(ownerHash(ada)).not.toBe(ownerHash(bob));
  expect(ownerHash({ provider: 'ab', subject: 'c' })).not.toBe(ownerHash({ provider: 'a', subject: 'bc' }));
  for (const wrong of ['', '..', 'G'.repeat(32), 'a'.repeat(31)]) expect(isOwnerHash(wrong)).toBe(false);
});

test('users and applications stay blocked until unblocked', async () => {
  const user = { kind: 'user', ...ada } as const;
  const application = { kind: 'application', name: 'Birdsong/2 ü' } as const;
  await block(store, user, at(0));
  await block(store, user, at(5));
  await block(store, application, at(1));
  expect(await Array.fromAsync(readBlocks(store), ({ found }) => found)).toEqual([
    { ...user, since: at(0) },
    { ...application, since: at(1) },
  ]);
  expect(await Array.fromAsync(listBlockKeys(store))).toEqual([blockKey(user), blockKey(application)]);
  await unblock(store, user);
  await unblock(store, user);
  expect(await Array.fromAsync(listBlockKeys(store))).toEqual([blockKey(application)]);
});

test('a block keeps its time on a store that ignores conditions', async () => {
  const user = { kind: 'user', ...ada } as const;
  const { put } = store;
  vi.spyOn(store, 'putIfAbsent').mockImplementation(async (key, bytes) => {
    await put.call(store, key, Readable.from([bytes]), { isReplacement: true });
    return 'created';
  });
  for (const second of [0, 5]) await block(store, user, at(second));
  expect(await findBlock(store, user)).toEqual({ ...user, since: at(0) });
});

test('an object under the key of a block blocks, also if it is unreadable; other objects are skipped', async () => {
  const user = { kind: 'user', ...ada } as const;
  const written = { ...user, since: at(0) };
  const put = (key: string, text: string) => store.put(key, Readable.from([Buffer.from(text)]));
  const key = (n: number) => `blocks/users/${String(n).padStart(32, '0')}`;
  const bodies = ['', '{', 'null', '['.repeat(100_000), JSON.stringify(written), ' '.repeat(2 ** 20 + 1)];
  for (const [n, body] of bodies.entries()) await put(key(n), body);
  await put('blocks/users/not-a-hash', JSON.stringify(written));
  await put(blockKey(user), JSON.stringify(written));
  const found = await Array.fromAsync(readBlocks(store));
  expect(found.filter((each) => !(each.found instanceof UnreadableBlock))).toEqual([
    { key: blockKey(user), found: written },
  ]);
  expect(found).toHaveLength(bodies.length + 1);
  expect(await Array.fromAsync(listBlockKeys(store))).toEqual(
    [...bodies.keys()].map(key).concat(blockKey(user)).toSorted(),
  );
});

test('lists more blocks than fit into one page', async () => {
  const users = join(folder, 'objects/blocks/users');
  await mkdir(users, { recursive: true });
  const names = Array.from({ length: 1003 }, (_, n) => String(n).padStart(32, '0'));
  await Promise.all(names.map((name) => writeFile(join(users, name), '')));
  expect(await Array.fromAsync(listBlockKeys(store))).toEqual(names.map((name) => `blocks/users/${name}`));
});

test('a block that the store confirms but does not keep is an error', async () => {
  vi.spyOn(store, 'putIfAbsent').mockResolvedValue('created');
  await expect(block(store, { kind: 'user', ...ada }, at(0))).rejects.toThrow('block missing after a confirmed write');
});
