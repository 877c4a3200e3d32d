import { patienceMs } from '@echodrop/testkit/patience';
import { expect, test } from 'vitest';
import { OwnerBusy, OwnerLimit } from './owner-limit.ts';

const wait = { waitMs: patienceMs, signal: new AbortController().signal };

/** Work of an owner that ends when the test calls `end` or `fail`. */
function workOf(limit: OwnerLimit, owner: string, waiting = wait) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let hasBegun = false;
  const result = limit.run(owner, waiting, () => {
    hasBegun = true;
    return promise;
  });
  result.catch(() => {});
  return { result, end: () => resolve('done'), fail: () => reject(new Error('failed')), hasBegun: () => hasBegun };
}

const settled = () => new Promise(setImmediate);

test('starts work above the limit when earlier work of the same owner ends or fails', async () => {
  const limit = new OwnerLimit(2);
  const all = Array.from({ length: 4 }, () => workOf(limit, 'a'));
  const started = () => all.map((each) => each.hasBegun());
  await settled();
  expect(started()).toEqual([true, true, false, false]);
  all[1]?.fail();
  await settled();
  expect(started()).toEqual([true, true, true, false]);
  all[0]?.end();
  await settled();
  expect(started()).toEqual([true, true, true, true]);
  for (const each of all) each.end();
  expect(await Promise.allSettled(all.map(({ result }) => result))).toMatchObject(
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'].map((status) => ({ status })),
  );
});

test('starts work of other owners at once', async () => {
  const limit = new OwnerLimit(1);
  const both = [workOf(limit, 'a'), workOf(limit, 'a')];
  expect(workOf(limit, 'b').hasBegun()).toBe(true);
  for (const each of both) each.end();
});

test('work that waited too long, or was aborted, does not start or take a slot', async () => {
  const limit = new OwnerLimit(1);
  const first = workOf(limit, 'a');
  const late = workOf(limit, 'a', { ...wait, waitMs: 1 });
  const gone = new AbortController();
  const left = workOf(limit, 'a', { ...wait, signal: gone.signal });
  const next = workOf(limit, 'a');
  await expect(late.result).rejects.toThrow(OwnerBusy);
  gone.abort(new Error('the client has left'));
  await expect(left.result).rejects.toThrow('the client has left');
  first.end();
  await settled();
  expect([late, left, next].map((each) => each.hasBegun())).toEqual([false, false, true]);
});
