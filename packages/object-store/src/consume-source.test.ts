import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { consumeSource } from './consume-source.ts';

/** A chunk with memory of its own, as Node makes one for the body of a request. */
const chunkOf = (length: number) => Buffer.from(new ArrayBuffer(length));

test.each([
  ['at once', () => undefined],
  ['later', () => new Promise<void>((resolve) => setImmediate(resolve))],
])('frees the memory of each chunk that is taken %s, if its source has no other reader', async (_, take) => {
  const taken = [chunkOf(9), chunkOf(70_000)];
  const kept = chunkOf(9);
  const shared = Buffer.from(new ArrayBuffer(20)).subarray(0, 10);
  let size = 0;
  await consumeSource(Readable.from([...taken, shared]), { freesChunks: true }, (chunk) => {
    size += chunk.length;
    return take();
  });
  expect(size).toBe(70_019);
  expect(taken.map(({ length }) => length)).toEqual([0, 0]);
  expect(shared.length).toBe(10);
  await consumeSource(Readable.from([kept]), {}, take);
  expect(kept.length).toBe(9);
});

test('keeps the memory of a chunk that is still being taken', async () => {
  const chunk = chunkOf(9);
  const taking = Promise.withResolvers<void>();
  const consumed = consumeSource(Readable.from([chunk]), { freesChunks: true }, () => taking.promise);
  await new Promise(setImmediate);
  expect(chunk.length).toBe(9);
  taking.resolve();
  await consumed;
  expect(chunk.length).toBe(0);
});
