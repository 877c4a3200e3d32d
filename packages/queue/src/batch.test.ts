import { expect, test, vi } from 'vitest';
import { Batch } from './batch.ts';

test('items within the wait are sent together, later ones in the next batch', async () => {
  vi.useFakeTimers();
  const sent: (readonly string[])[] = [];
  const batch = new Batch<string>(20, async (items) => void sent.push(items));
  const first = Promise.all([batch.add('a'), batch.add('b')]);
  await vi.advanceTimersByTimeAsync(20);
  await first;
  const second = batch.add('c');
  await vi.advanceTimersByTimeAsync(20);
  await second;
  expect(sent).toEqual([['a', 'b'], ['c']]);
});

test('a failed batch rejects each of its items, and no other', async () => {
  const batch = new Batch<string>(1, async (items) => {
    if (items.includes('bad')) throw new Error('refused');
  });
  expect(await Promise.allSettled([batch.add('good'), batch.add('bad')])).toMatchObject([
    { status: 'rejected' },
    { status: 'rejected' },
  ]);
  await batch.add('good');
});

test('disposing sends the collected items at once, and waits for it', async () => {
  const sent: string[] = [];
  const batch = new Batch<string>(60_000, async (items) => {
    await new Promise(setImmediate);
    sent.push(...items);
  });
  const added = batch.add('a');
  await batch[Symbol.asyncDispose]();
  expect(sent).toEqual(['a']);
  await added;
});
