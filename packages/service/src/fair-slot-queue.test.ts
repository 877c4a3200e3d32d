import { patienceMs } from '@echodrop/testkit/patience';
import { expect, test } from 'vitest';
import { FairSlotQueue } from './fair-slot-queue.ts';

interface Wait {
  readonly limit?: number;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** Slots whose requests record when they get one, and end when told. */
function recorded(options: ConstructorParameters<typeof FairSlotQueue>[0]) {
  const slots = new FairSlotQueue(options);
  const admitted: string[] = [];
  const ends: (() => void)[] = [];
  const request = async (sender: string, name: string, { limit = 2, waitMs = patienceMs, signal }: Wait = {}) => {
    const held = new DisposableStack();
    if (!(await slots.acquire(sender, limit, waitMs, held, signal))) return false;
    admitted.push(name);
    ends.push(() => held.dispose());
    return true;
  };
  /** Ends the request that began first, and lets the next one begin. */
  const endFirst = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { slots, request, admitted, endFirst };
}

test('senders take turns, and the requests of each keep their order', async () => {
  const { request, admitted, endFirst } = recorded({ slots: 2, maxWaiting: 10, maxWaitingOfOne: 10 });
  await Promise.all([request('a', 'a1'), request('a', 'a2')]);
  const waiting = ['a3', 'a4', 'a5'].map((name) => request('a', name));
  waiting.push(request('b', 'b1'), request('c', 'c1'), request('b', 'b2'));
  for (let n = 0; n < 6; n += 1) await endFirst();
  expect(await Promise.all(waiting)).toEqual(Array(6).fill(true));
  expect(admitted).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
});

test('a sender at its own limit does not hold up others', async () => {
  const { request, admitted, endFirst } = recorded({ slots: 3, maxWaiting: 10, maxWaitingOfOne: 10 });
  await request('a', 'a1', { limit: 1 });
  const waiting = [request('a', 'a2', { limit: 1 })];
  await request('b', 'b1');
  await request('b', 'b2');
  waiting.push(request('b', 'b3'));
  await endFirst();
  expect(admitted).toEqual(['a1', 'b1', 'b2', 'a2']);
  await endFirst();
  expect(admitted).toEqual(['a1', 'b1', 'b2', 'a2', 'b3']);
  expect(await Promise.all(waiting)).toEqual([true, true]);
});

test('senders that wait for more leave slots for one that holds fewer', async () => {
  const { request, admitted, endFirst } = recorded({ slots: 100, maxWaiting: 1000, maxWaitingOfOne: 1000 });
  for (const sender of ['a', 'b', 'c', 'd', 'e'])
    for (let n = 0; n < 60; n += 1) void request(sender, sender, { limit: 100 });
  await endFirst();
  expect(await request('f', 'f', { waitMs: 0 })).toBe(true);
  expect(admitted.length).toBeLessThan(100);
});

test('of two senders that get no slot, only the one that has one is above its share', async () => {
  const { slots, request } = recorded({ slots: 1, maxWaiting: 0, maxWaitingOfOne: 0 });
  await request('a', 'a1');
  expect(await Promise.all([request('a', 'a2'), request('b', 'b1')])).toEqual([false, false]);
  expect([slots.holds('a'), slots.holds('b')]).toEqual([true, false]);
});

test('waiting is limited in time, in all, and for each sender; who gave up has no turn', async () => {
  const { request, admitted, endFirst } = recorded({ slots: 1, maxWaiting: 3, maxWaitingOfOne: 2 });
  await request('a', 'a1');
  expect(await request('b', 'late', { waitMs: 1 })).toBe(false);
  const waiting = [request('b', 'b1'), request('b', 'b2')];
  expect(await request('b', 'too many of one')).toBe(false);
  waiting.push(request('c', 'c1'));
  expect(await request('c', 'too many of all')).toBe(false);
  for (let n = 0; n < 3; n += 1) await endFirst();
  expect(await Promise.all(waiting)).toEqual([true, true, true]);
  expect(admitted).toEqual(['a1', 'b1', 'c1', 'b2']);
});

test('who stops waiting has no turn, and neither has who does not begin to wait', async () => {
  const { request, admitted, endFirst } = recorded({ slots: 1, maxWaiting: 3, maxWaitingOfOne: 3 });
  await request('a', 'a1');
  const leaving = new AbortController();
  const left = request('a', 'left', leaving);
  const next = request('a', 'a2');
  leaving.abort();
  expect([await left, await request('a', 'never came', leaving)]).toEqual([false, false]);
  await endFirst();
  expect([await next, admitted]).toEqual([true, ['a1', 'a2']]);
});

test('if too many wait, the last one of the sender with most of them gives way to others', async () => {
  const { request, admitted, endFirst } = recorded({ slots: 1, maxWaiting: 4, maxWaitingOfOne: 4 });
  await request('a', 'a1');
  const waiting = ['b1', 'b2', 'b3', 'b4'].map((name) => request('b', name));
  waiting.push(request('c', 'c1'), request('d', 'd1'), request('e', 'e1'), request('f', 'too many'));
  for (let n = 0; n < 4; n += 1) await endFirst();
  expect(await Promise.all(waiting)).toEqual([true, false, false, false, true, true, true, false]);
  expect(admitted).toEqual(['a1', 'b1', 'c1', 'd1', 'e1']);
});
