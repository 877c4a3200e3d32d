import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listKeys } from '@echodrop/object-store/list-objects';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { isTombstone, newMediaId, type StoredRecord } from '@echodrop/record';
import { expect, test, vi } from 'vitest';
import { block, findBlock } from './blocks.ts';
import { useFolderStore } from './folder-store.fixture.ts';
import { handOver } from './hand-over.ts';
import { addToListings, listNewest } from './listing.ts';
import { flatListingKeys, listingEntryOf, listingKeys } from './listing-keys.ts';
import { ownerHash } from './owner.ts';
import { beginResumable, publishSample } from './publish-sample.fixture.ts';
import { findRecord } from './records.ts';
import { removeMedia } from './remove-media.ts';
import { findResumable, saveResumable } from './resumable-uploads.ts';

const from = 'https://old.example/verify';
const to = 'https://new.example/verify';
const subject = '12345';
const since = new Date('2026-11-20T08:00:00Z');
const moved = { from, to, dryRun: false, isStopped: false };

const opened = useFolderStore();

async function kindsOf(store: ObjectStore, provider = moved): Promise<string[]> {
  return (await Array.fromAsync(handOver(store, provider), ({ kind }) => kind)).sort();
}

function listOf(store: ObjectStore, provider: string): Promise<string[]> {
  return listNewest(store, { owner: ownerHash({ provider, subject }), limit: 50 }).then(({ records }) =>
    records.map(({ id }) => id),
  );
}

/** Passes calls on; `intervene` runs before each write. */
function watched(store: ObjectStore, intervene: (method: string, key: string) => Promise<void>): ObjectStore {
  return new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name).bind(target);
      if (name !== 'put' && name !== 'putIfAbsent' && name !== 'remove') return method;
      return async (key: string, ...rest: unknown[]) => {
        await intervene(name, key);
        return method(key, ...rest);
      };
    },
  });
}

test('an interruption at any write leaves work that a second hand-over finishes', async () => {
  for (let writes = 0, isInterrupted = true; isInterrupted; writes += 1) {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'hand-over-'));
    await using store = new FilesystemObjectStore(folder.path);
    await store.ready();
    const listed = await publishSample(store, { provider: from });
    const flat = await publishSample(store, { provider: from });
    // As release 0.1.0 listed it.
    for (const [n, key] of listingKeys(listingEntryOf(flat)).entries()) {
      await store.remove(key);
      await store.putIfAbsent(flatListingKeys(listingEntryOf(flat))[n] ?? '', Buffer.alloc(0));
    }
    const { id } = await beginResumable(store, { provider: from });
    await block(store, { kind: 'user', provider: from, subject }, since);

    let left = writes;
    const dying = watched(store, async () => {
      left -= 1;
      if (left < 0) throw new StoreUnavailable('gone');
    });
    isInterrupted = await kindsOf(dying).then(
      () => false,
      (error: unknown) => error instanceof StoreUnavailable,
    );
    await kindsOf(store);

    for (const each of [listed, flat]) expect(await findRecord(store, each.id)).toEqual({ ...each, provider: to });
    expect((await listOf(store, to)).sort()).toEqual([listed.id, flat.id].sort());
    const oldKeys = await Array.fromAsync(listKeys(store, `by-user/${ownerHash({ provider: from, subject })}/`));
    expect(oldKeys, `after ${writes} writes`).toEqual([]);
    expect((await findResumable(store, id))?.state.provider).toBe(to);
    expect(await findBlock(store, { kind: 'user', provider: from, subject })).toBeUndefined();
    expect(await findBlock(store, { kind: 'user', provider: to, subject })).toMatchObject({ provider: to, since });
  }
});

test('a user is blocked at one of the addresses at every moment', async () => {
  const { store } = opened;
  await block(store, { kind: 'user', provider: from, subject }, since);
  const isBlocked: boolean[] = [];
  const watching = watched(store, async () => {
    const found = [from, to].map((provider) => findBlock(store, { kind: 'user', provider, subject }));
    isBlocked.push((await Promise.all(found)).some((each) => each !== undefined));
  });
  await kindsOf(watching);
  expect(isBlocked).not.toEqual([]);
  expect(isBlocked).not.toContain(false);
});

test('a removal by the new owner during the hand-over stays a removal', async () => {
  const { store } = opened;
  const record = await publishSample(store, { provider: from });
  const removed = { by: 'owner', at: new Date() } as const;
  const { put } = store;
  vi.spyOn(store, 'put').mockImplementationOnce(async (...args) => {
    const written = await put.apply(store, args);
    await removeMedia(store, { ...record, provider: to }, removed);
    return written;
  });
  await kindsOf(store);
  await kindsOf(store);
  const found = await findRecord(store, record.id);
  expect(found && isTombstone(found)).toBe(true);
  const entries = await Promise.all(['by-user/', 'by-time/'].map((prefix) => Array.fromAsync(listKeys(store, prefix))));
  expect(entries.flat()).toEqual([]);
});

test('an upload that is published under the old address meanwhile is handed over by the next run', async () => {
  const { store } = opened;
  await publishSample(store, { provider: from });
  let late: StoredRecord | undefined;
  const racing = watched(store, async (method) => {
    if (method === 'put') late ??= await publishSample(store, { provider: from, id: '0000000000' });
  });
  expect(await kindsOf(racing)).toEqual(['upload']);
  expect(await listOf(store, from)).toEqual([late?.id]);
  expect(await kindsOf(store)).toEqual(['earlier', 'upload']);
  expect(await listOf(store, to)).toHaveLength(2);
});

test('leaves a resumable upload that is being published or continued to the next run', async () => {
  const { store } = opened;
  const publishing = await beginResumable(store, { provider: from, mediaId: newMediaId() });
  const continued = await beginResumable(store, { provider: from });
  const done = await beginResumable(store, { provider: from, mediaId: newMediaId(), isPublished: true });
  const racing = watched(store, async (method, key) => {
    if (method === 'putIfAbsent' && key.includes(continued.id))
      await saveResumable(store, continued, { ...continued.state, message: 'Further' }).catch(() => {});
  });
  expect(await kindsOf(racing)).toEqual(['skipped', 'skipped', 'unfinished']);
  expect(await kindsOf(store)).toEqual(['skipped', 'unfinished']);
  expect((await findResumable(store, publishing.id))?.state.provider).toBe(from);
  expect((await findResumable(store, continued.id))?.state).toMatchObject({ provider: to, message: 'Further' });
  expect((await findResumable(store, done.id))?.state.provider).toBe(to);
});

test('an entry that a sweep adds for the old owner meanwhile lists nothing', async () => {
  const { store } = opened;
  const record = await publishSample(store, { provider: from });
  await kindsOf(store);
  await addToListings(store, listingEntryOf(record));
  expect(await listOf(store, from)).toEqual([]);
  await kindsOf(store);
  expect(await Array.fromAsync(listKeys(store, `by-user/${ownerHash(record)}/`))).toEqual([]);
});
