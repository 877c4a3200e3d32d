import { mkdtempDisposable, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { objectStoreContract } from '../contract/object-store.contract.ts';
import { StoreUnavailable } from '../object-store.ts';
import { bytesAt } from '../sources.fixture.ts';
import { limitationsOf } from '../store-capabilities.ts';
import { FilesystemObjectStore } from './filesystem-object-store.ts';
import { NameClaim } from './name-claim.ts';

const link = vi.hoisted(() => ({ code: 'EPERM', calls: 0 }));

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<typeof import('node:fs/promises')>()),
  link: async () => {
    link.calls += 1;
    throw Object.assign(new Error('operation not permitted, link'), { code: link.code });
  },
}));

afterEach(() => void vi.restoreAllMocks());

const key = 'records/4AaBXzv6nZ.json';

async function openFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-no-links-'));
  return {
    store: new FilesystemObjectStore(folder.path),
    other: new FilesystemObjectStore(folder.path),
    temporary: join(folder.path, 'tmp'),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

/** What a process leaves that is killed while it holds the claim of `key`. @returns the path of the claim */
async function leaveClaim({ store, temporary }: Awaited<ReturnType<typeof openFolder>>): Promise<string> {
  vi.spyOn(NameClaim.prototype, Symbol.asyncDispose).mockResolvedValueOnce();
  vi.spyOn(NameClaim.prototype, 'requireFresh').mockImplementationOnce(() => {
    throw new StoreUnavailable('killed');
  });
  await expect(store.putIfAbsent(key, Buffer.from('never acknowledged'))).rejects.toThrow('killed');
  const [name = expect.fail('no claim')] = await readdir(temporary);
  return join(temporary, name);
}

/** Each look at the clock takes `ms`. */
function slowClock(ms: number): void {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += ms;
    return now;
  });
}

describe('the filesystem store in a folder without hard links', () => {
  objectStoreContract(openFolder);

  test.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])(
    'a link that fails with %s is tried once, and the probe reports it',
    async (code) => {
      link.code = code;
      await using folder = await openFolder();
      const { store } = folder;
      const { calls } = link;
      await store.ready();
      for (const each of ['a', 'b', 'a']) await store.putIfAbsent(`blocks/users/${each}`, Buffer.from(each));
      expect(limitationsOf(await store.probe())).toEqual([expect.stringContaining('no hard links')]);
      expect(link.calls - calls).toBe(1);
      expect(await readdir(folder.temporary)).toEqual([]);
    },
  );

  test('exactly one of twenty concurrent writes of an empty object wins', async () => {
    await using folder = await openFolder();
    const writers = Array.from({ length: 20 }, (_, n) => (n % 2 ? folder.store : folder.other));
    const outcomes = await Promise.all(writers.map((store) => store.putIfAbsent('by-time/1', Buffer.alloc(0))));
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
  });

  test('a record is complete whenever it is read', async () => {
    await using folder = await openFolder();
    const { store, other } = folder;
    const record = Buffer.alloc(100_000, 'x');
    let isWritten = false;
    const writing = store.putIfAbsent(key, record).finally(() => {
      isWritten = true;
    });
    while (!isWritten) expect((await other.stat(key))?.size ?? record.length).toBe(record.length);
    expect(await writing).toBe('created');
  });

  test('the claim of a killed process is respected for 30 seconds; then the next write succeeds', async () => {
    await using folder = await openFolder();
    const claim = await leaveClaim(folder);
    slowClock(1000);
    await expect(folder.other.putIfAbsent(key, Buffer.from('a repeat'))).rejects.toThrow('has begun and not ended');
    const seconds = Date.now() / 1000 - 31;
    await utimes(claim, seconds, seconds);
    expect(await folder.other.putIfAbsent(key, Buffer.from('a repeat'))).toBe('created');
    expect(`${await bytesAt(folder.store, key)}`).toBe('a repeat');
    expect(await readdir(folder.temporary)).toEqual([]);
  });

  test('a claim that a killed process left after the record was written blocks nothing', async () => {
    await using folder = await openFolder();
    const claim = await leaveClaim(folder);
    await rm(claim);
    await folder.store.putIfAbsent(key, Buffer.from('published'));
    await writeFile(claim, '');
    expect(await folder.other.putIfAbsent(key, Buffer.from('a repeat'))).toBe('exists');
    expect(`${await bytesAt(folder.store, key)}`).toBe('published');
  });

  test('a sweep can find and remove the claim of a killed process', async () => {
    await using folder = await openFolder();
    await leaveClaim(folder);
    for await (const write of folder.store.listUnfinishedWrites()) await folder.store.abortWrite(write);
    expect(await folder.other.putIfAbsent(key, Buffer.from('a repeat'))).toBe('created');
  });

  test('a writer that was suspended for longer than 15 seconds after its claim gives up', async () => {
    await using folder = await openFolder();
    await folder.store.ready();
    slowClock(16_000);
    await expect(folder.store.putIfAbsent(key, Buffer.from('late'))).rejects.toThrow('took too long');
    expect(await folder.other.stat(key)).toBeUndefined();
  });
});
