import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { ReadMemory } from '../find/read-memory.ts';
import { newStore } from '../site.fixture.ts';
import { maxSharedBytes, openShared } from './open-shared.ts';

const { signal } = new AbortController();
const range = { offset: 0, length: maxSharedBytes };

test('responses use at most 32 MiB of shared bytes, those of one object counted once', async () => {
  await using resources = new AsyncDisposableStack();
  const store = await newStore(resources);
  const memory = new ReadMemory();
  const open = async (n: number, signalOf = signal) => {
    const object = await store.stat(`renditions/${n}`);
    return object && openShared(object, { store, memory, signal: signalOf }, range);
  };
  const most = (32 * 1024 * 1024) / maxSharedBytes;
  for (let n = 0; n <= most; n += 1)
    await store.put(`renditions/${n}`, Readable.from([Buffer.alloc(maxSharedBytes, n)]));
  const opened = [];
  for (let n = 0; n < most; n += 1) opened.push(await open(n), await open(n));
  expect(opened).not.toContain(undefined);
  expect(await open(most)).toBeUndefined();

  const [first, second] = opened;
  expect(await buffer(first ?? expect.fail())).toEqual(Buffer.alloc(maxSharedBytes, 0));
  expect(await open(most)).toBeUndefined();
  // A reader who stalls closes it.
  second?.destroy();
  await waitUntil('free bytes', async () => {
    const body = await open(most);
    body?.destroy();
    return body !== undefined;
  });

  await expect(open(0, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
});
