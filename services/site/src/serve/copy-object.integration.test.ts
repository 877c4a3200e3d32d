import { randomBytes } from 'node:crypto';
import { Readable, Transform, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { type ObjectReading, StoreUnavailable } from '@echodrop/object-store/object-store';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { newStore } from '../site.fixture.ts';
import { copyObject, crowdStallMs, maxWaiting } from './copy-object.ts';

const key = 'renditions/a';
const bytes = randomBytes(300_000);
const range = { offset: 1000, length: 250_000 };

let parts: AsyncDisposableStack;
let store: FilesystemObjectStore;
let opened: ObjectReading[];

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  store = await newStore(parts);
  await store.put(key, Readable.from([bytes]));
  opened = [];
  const { read } = store;
  vi.spyOn(store, 'read').mockImplementation(async (...args) => {
    const reading = await read.apply(store, args);
    if (reading) opened.push(reading);
    return reading;
  });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await parts.disposeAsync();
});

/** Like a connection, it has copied a chunk when it calls back. */
class Reader extends Transform {
  constructor(highWaterMark?: number) {
    super({ highWaterMark, transform: (chunk, _encoding, done) => done(null, Buffer.from(chunk)) });
  }
}

/** Copies to a reader that takes nothing yet. */
async function copyTo(reader: Reader) {
  const first = (await store.read(key, { range })) ?? expect.fail('no object');
  const copied = copyObject(first.body, reader, { store, object: first, range, signal: new AbortController().signal });
  return copied.finally(() => reader.end());
}

test('a reader who stalls keeps no object open, and gets the rest later', async () => {
  const reader = new Reader(1);
  const copied = copyTo(reader);
  await waitUntil('the end of the first reading', async () => opened[0]?.body.closed === true);
  expect(reader.writableLength).toBeLessThan(64 * 1024);
  const received = await buffer(reader);
  await copied;
  expect(received.equals(bytes.subarray(range.offset, range.offset + range.length))).toBe(true);
  expect(opened).toHaveLength(2);
});

test('beside more than 64 readers who stall, the longest of them keeps no object open after half a second, and gets the rest later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const copies: Promise<void>[] = [];
  const startStalled = async () => {
    const reader = new Reader(1);
    copies.push(copyTo(reader));
    await waitUntil('the first chunk', async () => reader.writableLength > 0);
    return reader;
  };
  const first = await startStalled();
  vi.advanceTimersByTime(1);
  const readers = [first];
  while (readers.length <= maxWaiting) readers.push(await startStalled());
  expect(opened.filter(({ body }) => body.destroyed)).toEqual([]);
  vi.advanceTimersByTime(crowdStallMs - 1);
  readers.push(await startStalled());
  await waitUntil('the end of the first reading', async () => opened[0]?.body.closed === true);
  expect(opened.filter(({ body }) => body.destroyed)).toHaveLength(1);
  vi.useRealTimers();
  for (const reader of readers) {
    const received = await buffer(reader);
    expect(received.equals(bytes.subarray(range.offset, range.offset + range.length))).toBe(true);
  }
  await Promise.all(copies);
});

test('a reader who takes all has the object opened once', async () => {
  const reader = new Reader();
  const [received] = await Promise.all([buffer(reader), copyTo(reader)]);
  expect(received.equals(bytes.subarray(range.offset, range.offset + range.length))).toBe(true);
  expect(opened).toHaveLength(1);
});

test('an object that changed while its reader stalled is cut off', async () => {
  const reader = new Reader(1);
  const copied = copyTo(reader);
  const failed = expect(copied).rejects.toThrow(StoreUnavailable);
  await waitUntil('the end of the first reading', async () => opened[0]?.body.closed === true);
  await store.put(key, Readable.from([randomBytes(bytes.length)]));
  reader.resume();
  await failed;
});

test('a reader who leaves ends the copy, even if no chunk is reported as sent', async () => {
  const first = (await store.read(key, { range })) ?? expect.fail('no object');
  const reader = new Writable({ write: () => leave.abort(new Error('left')) });
  const leave = new AbortController();
  const copied = copyObject(first.body, reader, { store, object: first, range, signal: leave.signal });
  await expect(copied).rejects.toThrow('left');
});
