import { patienceMs } from '@echodrop/testkit/patience';
import { expect, test } from 'vitest';
import { QuerySlots } from './query-slots.ts';

/** Slots whose queries record when they get one, and end when told. */
function recorded(options: ConstructorParameters<typeof QuerySlots>[0]) {
  const slots = new QuerySlots(options);
  const admitted: string[] = [];
  const ends: (() => void)[] = [];
  const query = async (sender: string, name: string, { limit = 2, waitMs = patienceMs } = {}) => {
    const held = new DisposableStack();
    if (!(await slots.acquire(sender, limit, waitMs, held))) return false;
    admitted.push(name);
    ends.push(() => held.dispose());
    return true;
  };
  /** Ends the query that began first, and lets the next one begin. */
  const endFirst = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { query, admitted, endFirst };
}

test('senders take turns, and the queries of each keep their order', async () => {
  const { query, admitted, endFirst } = recorded({ slots: 2, maxWaiting: 10, maxWaitingOfOne: 10 });
  await Promise.all([query('a', 'a1'), query('a', 'a2')]);
  const waiting = ['a3', 'a4', 'a5'].map((name) => query('a', name));
  waiting.push(query('b', 'b1'), query('c', 'c1'), query('b', 'b2'));
  for (let n = 0; n < 6; n += 1) await endFirst();
  expect(await Promise.all(waiting)).toEqual(Array(6).fill(true));
  expect(admitted).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'b2', 'a5']);
});

test('a sender at its own limit does not hold up others', async () => {
  const { query, admitted, endFirst } = recorded({ slots: 3, maxWaiting: 10, maxWaitingOfOne: 10 });
  await query('a', 'a1', { limit: 1 });
  const waiting = [query('a', 'a2', { limit: 1 })];
  await query('b', 'b1');
  await query('b', 'b2');
  waiting.push(query('b', 'b3'));
  await endFirst();
  expect(admitted).toEqual(['a1', 'b1', 'b2', 'a2']);
  await endFirst();
  expect(admitted).toEqual(['a1', 'b1', 'b2', 'a2', 'b3']);
  expect(await Promise.all(waiting)).toEqual([true, true]);
});

test('waiting is limited in time, in all, and for each sender; who gave up has no turn', async () => {
  const { query, admitted, endFirst } = recorded({ slots: 1, maxWaiting: 3, maxWaitingOfOne: 2 });
  await query('a', 'a1');
  expect(await query('b', 'late', { waitMs: 1 })).toBe(false);
  const waiting = [query('b', 'b1'), query('b', 'b2')];
  expect(await query('b', 'too many of one')).toBe(false);
  waiting.push(query('c', 'c1'));
  expect(await query('d', 'too many')).toBe(false);
  for (let n = 0; n < 3; n += 1) await endFirst();
  expect(await Promise.all(waiting)).toEqual([true, true, true]);
  expect(admitted).toEqual(['a1', 'b1', 'c1', 'b2']);
});
