import { expect, test } from 'vitest';
import { SharedWork } from './shared-work.ts';

const { signal } = new AbortController();

function controlledWork() {
  const started: { readonly signal: AbortSignal; readonly result: PromiseWithResolvers<string> }[] = [];
  const start = (cancelled: AbortSignal) => {
    const result = Promise.withResolvers<string>();
    started.push({ signal: cancelled, result });
    return result.promise;
  };
  return { started, start, work: new SharedWork() };
}

test('readers of one key share the work, and its error', async () => {
  const { started, start, work } = controlledWork();
  const readers = [work.join('a', signal, start), work.join('a', signal, start), work.join('b', signal, start)];
  expect(started).toHaveLength(2);
  started[0]?.result.reject(new Error('no store'));
  started[1]?.result.resolve('b');
  expect((await Promise.allSettled(readers)).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
    'fulfilled',
  ]);
});

test('the work is cancelled when its last reader leaves, and not before', async () => {
  const { started, start, work } = controlledWork();
  const leaving = [new AbortController(), new AbortController()];
  const readers = leaving.map((each) => work.join('a', each.signal, start));
  leaving[0]?.abort(new Error('left'));
  await expect(readers[0]).rejects.toThrow('left');
  expect(started[0]?.signal.aborted).toBe(false);
  leaving[1]?.abort(new Error('left too'));
  await expect(readers[1]).rejects.toThrow('left too');
  expect(started[0]?.signal.aborted).toBe(true);
  void work.join('a', signal, start);
  expect(started).toHaveLength(2);
});

test('a reader that has left starts nothing', async () => {
  const { started, start, work } = controlledWork();
  await expect(work.join('a', AbortSignal.abort(new Error('left')), start)).rejects.toThrow('left');
  expect(started).toEqual([]);
});
