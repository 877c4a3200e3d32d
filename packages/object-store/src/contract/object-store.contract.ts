import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listingPrefix, mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { bytesAt } from '../sources.fixture.ts';
import type { OpenedStores } from './opened-stores.fixture.ts';
import { putContract } from './put.contract.ts';
import { readContract } from './read.contract.ts';
import { stagedWritesContract } from './staged-writes.contract.ts';
import { unfinishedWritesContract } from './unfinished-writes.contract.ts';

/** Tests that every implementation of ObjectStore must pass. */
export function objectStoreContract(open: () => Promise<OpenedStores>): void {
  let opened: OpenedStores;
  const stores = () => opened;

  beforeAll(async () => {
    opened = await open();
    await opened.store.ready();
  });

  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
  });

  putContract(stores);
  readContract(stores);
  unfinishedWritesContract(stores);
  stagedWritesContract(stores);

  test('remove deletes an object, and accepts a missing one', async () => {
    const key = mediaObjectKey(newMediaKey());
    await stores().store.put(key, Readable.from([Buffer.from('bytes')]));
    await stores().store.remove(key);
    await stores().store.remove(key);
    expect(await stores().store.stat(key)).toBeUndefined();
  });

  test('the clock is that of writtenAt', async () => {
    const prefix = listingPrefix(newMediaKey());
    const before = await stores().store.clock();
    await stores().store.putIfAbsent(`${prefix}0`, Buffer.alloc(0));
    const after = await stores().store.clock();
    const [{ writtenAt } = expect.fail('nothing is listed')] = await stores().store.list(prefix, { limit: 1 });
    expect(writtenAt.getTime()).toBeGreaterThan(before.getTime() - 1000);
    expect(writtenAt.getTime()).toBeLessThan(after.getTime() + 1000);
  });

  test('stores renditions', async () => {
    const key = `renditions/${newMediaKey()}/large-1.jpg`;
    await stores().store.put(key, Readable.from([Buffer.from('picture')]), { contentType: 'image/jpeg' });
    expect(`${await bytesAt(stores().store, key)}`).toBe('picture');
  });

  test.each([
    '',
    '/etc/passwd',
    '../x',
    'media/../x',
    'media//x',
    'media/',
    'media/a?b',
    'media/a\0',
    '.hidden',
    'a\\b',
  ])('refuses %j as a key', async (key) => {
    await expect(stores().store.stat(key)).rejects.toThrow(TypeError);
    await expect(stores().store.putIfAbsent(key, Buffer.alloc(1))).rejects.toThrow(TypeError);
  });

  test('ready can run concurrently', async () => {
    await Promise.all([stores().store, stores().other, stores().store].map((each) => each.ready()));
  });
}
