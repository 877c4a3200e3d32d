import { beforeEach, expect, test, vi } from 'vitest';
import { maxRememberedBytes, ReadMemory, rememberedMs } from './read-memory.ts';

const { signal } = new AbortController();
let memory: ReadMemory;
let reads: number;

let now: number;

beforeEach(() => {
  now = Math.floor(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  memory = new ReadMemory();
  reads = 0;
});

async function read() {
  reads += 1;
  return { read: reads };
}

function find(key: string, bytes: number | undefined = 100) {
  return memory.find(key, signal, read, () => bytes);
}

test('a value is read once while it is remembered, counted from the start of the read', async () => {
  const slow = Promise.withResolvers<{ read: number }>();
  const first = memory.find(
    'a',
    signal,
    () => slow.promise,
    () => 100,
  );
  now += 1000;
  slow.resolve({ read: 0 });
  const value = await first;
  now += rememberedMs - 1000;
  expect(await find('a')).toBe(value);
  now += 1;
  expect(await find('a')).toEqual({ read: 1 });
});

test('a burst of readers causes one read', async () => {
  const values = await Promise.all(Array.from({ length: 1000 }, () => find('a')));
  expect(new Set(values).size).toBe(1);
  expect(reads).toBe(1);
});

test('a value without a size, and an error, are not remembered', async () => {
  expect(await memory.find('a', signal, read, () => undefined)).toEqual({ read: 1 });
  const failing = async () => Promise.reject(new Error('no store'));
  await expect(memory.find('a', signal, failing, () => 1)).rejects.toThrow('no store');
  expect(await find('a')).toEqual({ read: 2 });
});

test('holds at most its bytes, and prefers what was read last', async () => {
  const part = maxRememberedBytes / 4;
  for (const key of ['a', 'b', 'c']) await find(key, part);
  await find('a', part);
  // Each entry takes more than its value.
  await find('d', part);
  reads = 0;
  for (const key of ['a', 'c', 'd']) await find(key, part);
  expect(reads).toBe(0);
  await find('b', part);
  expect(reads).toBe(1);
});

test('does not remember what is larger than the memory', async () => {
  await find('small');
  await find('large', maxRememberedBytes + 1);
  reads = 0;
  await find('small');
  expect(reads).toBe(0);
  await find('large');
  expect(reads).toBe(1);
});

test('a forgotten value is read again', async () => {
  await find('a');
  memory.forget('a');
  expect(await find('a')).toEqual({ read: 2 });
});

test('a derived value is made once for its source', async () => {
  const source = await find('a');
  let made = 0;
  const make = () => ({ made: ++made, memoryBytes: 100 });
  const derive = (of: object) => memory.derive('page a', of, make).made;
  expect([derive(source), derive(source)]).toEqual([1, 1]);
  memory.forget('a');
  expect(derive(await find('a'))).toBe(2);
});
