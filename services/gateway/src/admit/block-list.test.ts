import { setTimeout as sleep } from 'node:timers/promises';
import { blockKey } from '@echodrop/archive/blocks';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { expect, test, vi } from 'vitest';
import { BlockList } from './block-list.ts';

const user = { provider: 'https://example.org/', subject: '12345' };
const userKey = blockKey({ kind: 'user', ...user });
const applicationKey = blockKey({ kind: 'application', name: 'app' });

vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
}));

/** A store with objects of these keys, which takes `listMs` for each list. */
function storeOf(stored: Set<string>, listMs: number) {
  const store = {
    isDown: false,
    /** Lists so far. */
    lists: 0,
    async listKeys(prefix: string) {
      const keys = [...stored].filter((key) => key.startsWith(prefix));
      store.lists += 1;
      await sleep(listMs);
      if (store.isDown) throw new StoreUnavailable('away for a moment');
      return keys;
    },
  };
  return store;
}

function blockList(stored: Set<string>, listMs = 0) {
  vi.useFakeTimers();
  const store = storeOf(stored, listMs);
  const events = { blockListFailed: vi.fn(), blockListRefreshed: vi.fn() };
  const blocks = new BlockList(store as unknown as ObjectStore, events);
  const refusal = (application = 'other') => {
    try {
      blocks.refuseBlocked({ ...user, application });
    } catch (error) {
      return (error as Error).message;
    }
  };
  const dispose = async () => {
    const disposed = blocks[Symbol.asyncDispose]();
    await vi.runAllTimersAsync();
    await disposed;
  };
  return { store, events, blocks, refusal, [Symbol.asyncDispose]: dispose };
}

test.each([
  ['at once', 0],
  ['after two seconds', 2000],
])('blocks are in effect within ten seconds if the store lists them %s', async (_, listMs) => {
  const stored = new Set<string>();
  await using list = blockList(stored, listMs);
  const { store, refusal } = list;
  // Each refresh lists users, then applications. A change right after the last of them is in effect the latest.
  const untilListed = async () => {
    const { lists } = store;
    while (store.lists < lists + 2 || store.lists % 2 === 1) await vi.advanceTimersByTimeAsync(1);
  };
  await untilListed();
  await vi.advanceTimersByTimeAsync(listMs);
  expect(refusal()).toBeUndefined();
  await untilListed();
  stored.add(userKey);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(refusal()).toBe('caller_blocked');
  await untilListed();
  stored.delete(userKey);
  stored.add(applicationKey);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([refusal(), refusal('app')]).toEqual([undefined, 'application_blocked']);
});

test('while the store cannot be listed, the last blocks stay in force; a block is in effect soon after', async () => {
  const stored = new Set([userKey]);
  await using list = blockList(stored);
  const { store, events, refusal } = list;
  expect(refusal('app')).toBe('unavailable');
  await vi.advanceTimersByTimeAsync(1);
  store.isDown = true;
  stored.add(applicationKey);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([refusal('app'), events.blockListFailed.mock.calls.length > 0]).toEqual(['caller_blocked', true]);
  store.isDown = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(refusal('app')).toBe('application_blocked');
});

test('until the first list, it is not ready and says why', async () => {
  await using list = blockList(new Set());
  const { store, events, blocks } = list;
  store.isDown = true;
  await vi.advanceTimersByTimeAsync(3000);
  await expect(blocks.ready()).rejects.toMatchObject({ cause: new StoreUnavailable('away for a moment') });
  expect(events.blockListRefreshed).not.toHaveBeenCalled();
  store.isDown = false;
  await vi.advanceTimersByTimeAsync(3000);
  await blocks.ready();
  expect(events.blockListRefreshed).toHaveBeenCalled();
});
