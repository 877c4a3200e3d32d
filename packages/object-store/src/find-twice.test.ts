import { expect, test, vi } from 'vitest';
import { findTwice } from './find-twice.ts';

const rereadMs = 30;

test('what is found at once is not looked for again', async () => {
  const find = vi.fn(async () => 1);
  expect(await findTwice({ rereadMs }, find)).toBe(1);
  expect(find).toHaveBeenCalledTimes(1);
});

test('what is missing for a moment is found after a pause, once', async () => {
  const found = [undefined, 2, 3];
  const began = performance.now();
  expect(await findTwice({ rereadMs }, async () => found.shift())).toBe(2);
  expect(performance.now() - began).toBeGreaterThan(rereadMs - 2);
});

test('what is missing twice is missing, and at once from a store that never misses anything', async () => {
  const find = vi.fn(async () => undefined);
  expect(await findTwice({ rereadMs }, find)).toBeUndefined();
  expect(find).toHaveBeenCalledTimes(2);
  expect(await findTwice({ rereadMs: 0 }, find)).toBeUndefined();
  expect(find).toHaveBeenCalledTimes(3);
});

test('the signal ends the pause', async () => {
  const stop = new AbortController();
  const find = vi.fn(async () => stop.abort(new Error('stopped')));
  await expect(findTwice({ rereadMs: 2 ** 30 }, find, stop.signal)).rejects.toThrow('stopped');
  expect(find).toHaveBeenCalledTimes(1);
});
