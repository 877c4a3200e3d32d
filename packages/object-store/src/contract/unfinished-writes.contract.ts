import { Readable } from 'node:stream';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { describe, expect, test } from 'vitest';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { StoreUnavailable, type UnfinishedWrite } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import type { OpenedStores } from './opened-stores.fixture.ts';

/** Listing and aborting unfinished writes. */
export function unfinishedWritesContract(stores: () => OpenedStores): void {
  describe('listUnfinishedWrites', () => {
    const unfinished = () => Array.fromAsync(stores().store.listUnfinishedWrites());

    test('reports a running write of any process, until it ends', async () => {
      const before = new Set((await unfinished()).map(({ id }) => id));
      const key = mediaObjectKey(newMediaKey());
      const begun = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      const source = Readable.from(
        (async function* () {
          yield Buffer.alloc(partBytes + 1);
          begun.resolve();
          await end.promise;
        })(),
        { objectMode: false },
      );
      const putting = stores().other.put(key, source);
      await begun.promise;
      const running = (await waited(unfinished, before)) ?? expect.fail('not reported');
      expect(running.key ?? key).toBe(key);
      expect(Math.abs(Date.now() - running.writtenAt.getTime())).toBeLessThan(60_000);
      end.resolve();
      const { crc32: _, ...put } = await putting;
      expect((await unfinished()).filter(({ id }) => !before.has(id))).toEqual([]);
      await stores().store.abortWrite(running);
      await stores().store.abortWrite(running);
      expect(await stores().store.stat(key)).toEqual(put);
    });

    test('an aborted write is no longer reported and creates no object', async () => {
      const before = new Set((await unfinished()).map(({ id }) => id));
      const key = mediaObjectKey(newMediaKey());
      const end = Promise.withResolvers<void>();
      const source = Readable.from(
        (async function* () {
          yield Buffer.alloc(partBytes + 1);
          await end.promise;
        })(),
        { objectMode: false },
      );
      const putting = stores().other.put(key, source);
      putting.catch(() => {});
      await stores().store.abortWrite((await waited(unfinished, before)) ?? expect.fail('not reported'));
      expect((await unfinished()).filter(({ id }) => !before.has(id))).toEqual([]);
      end.resolve();
      await expect(putting).rejects.toThrow(StoreUnavailable);
      expect(await stores().store.stat(key)).toBeUndefined();
    });
  });
}

async function waited(unfinished: () => Promise<UnfinishedWrite[]>, before: ReadonlySet<string>) {
  let found: UnfinishedWrite | undefined;
  await waitUntil('a reported write', async () => {
    found = (await unfinished()).find(({ id }) => !before.has(id));
    return found !== undefined;
  });
  return found;
}
