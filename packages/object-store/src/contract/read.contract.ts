import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { listKeys as allKeys, listObjects } from '../list-objects.ts';
import { listingPrefix, mediaObjectKey, newMediaKey } from '../object-keys.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt, inChunks } from '../sources.fixture.ts';
import type { OpenedStores } from './opened-stores.fixture.ts';

/** Reading and listing. */
export function readContract(stores: () => OpenedStores): void {
  describe('read', () => {
    const bytes = randomBytes(300_000);
    const key = mediaObjectKey(newMediaKey());
    const empty = mediaObjectKey(newMediaKey());

    beforeAll(async () => {
      await stores().store.put(key, inChunks(bytes));
      await stores().store.put(empty, Readable.from([]));
    });

    test.each([
      [key, 0, 1],
      [key, 100_000, 65_536],
      [key, 299_999, 1],
      [key, 299_990, 1_000_000],
      [key, 0, 0],
      [key, 300_000, 10],
      [key, 999_999, 10],
      [empty, 0, 10],
    ])('reads from %s the range at %i of length %i, and reports the full size', async (at, offset, length) => {
      const whole = at === key ? bytes : Buffer.alloc(0);
      const reading = (await stores().store.read(at, { range: { offset, length } })) ?? expect.fail('nothing to read');
      expect(reading.size).toBe(whole.length);
      expect((await buffer(reading.body)).equals(whole.subarray(offset, offset + length))).toBe(true);
    });

    test('returns undefined for missing objects', async () => {
      const absent = mediaObjectKey(newMediaKey());
      expect(await stores().store.read(absent)).toBeUndefined();
      expect(await stores().store.read(absent, { range: { offset: 5, length: 5 } })).toBeUndefined();
      expect(await stores().store.read(absent, { range: { offset: 5, length: 0 } })).toBeUndefined();
      expect(await stores().store.stat(absent)).toBeUndefined();
      expect(await stores().store.stat('media')).toBeUndefined();
      expect([await stores().store.exists(absent), await stores().store.exists('media')]).toEqual([false, false]);
    });

    test('rejects with the reason of an aborted signal', async () => {
      const large = mediaObjectKey(newMediaKey());
      await stores().store.put(large, inChunks(randomBytes(partBytes)));
      const abort = new AbortController();
      const reading = (await stores().store.read(large, { signal: abort.signal })) ?? expect.fail('nothing to read');
      abort.abort(new Error('enough'));
      await expect(buffer(reading.body)).rejects.toThrow('enough');
      await expect(stores().store.read(large, { signal: abort.signal })).rejects.toThrow('enough');
    });

    test('can be cancelled in the middle many times', async () => {
      const large = mediaObjectKey(newMediaKey());
      await stores().store.put(large, inChunks(randomBytes(partBytes)));
      for (let round = 0; round < 50; round += 1) {
        const reading = (await stores().store.read(large)) ?? expect.fail('nothing to read');
        reading.body.destroy();
      }
      expect((await bytesAt(stores().store, large))?.length).toBe(partBytes);
    });
  });

  describe('list', () => {
    const owner = newMediaKey();
    const prefix = listingPrefix(owner);
    // In the order of their bytes: a hyphen comes before a slash, and a slash before digits.
    const names = ['0', '1', '10', 'a-b', 'a/b', 'a/c/d', 'a0', 'b'];
    const keys = names.map((name) => `${prefix}${name}`);
    const listKeys = async (page: { after?: string; limit: number }) =>
      (await stores().store.list(prefix, page)).map(({ key }) => key);

    beforeAll(async () => {
      for (const key of keys.toReversed()) await stores().store.putIfAbsent(key, Buffer.alloc(0));
      await stores().store.putIfAbsent(`${listingPrefix(newMediaKey())}0`, Buffer.alloc(0));
    });

    test('lists all objects below a prefix, in key order, and no others', async () => {
      expect(await listKeys({ limit: 1000 })).toEqual(keys);
      expect(await listKeys({ limit: 5000 })).toEqual(keys);
      expect(await stores().store.list(listingPrefix(newMediaKey()), { limit: 10 })).toEqual([]);
    });

    test.each([0, 1, 3, 8])('lists at most %i', async (limit) => {
      expect(await listKeys({ limit })).toEqual(keys.slice(0, limit));
    });

    test('continues after any key, existing or not', async () => {
      for (const [n, after] of keys.entries())
        expect(await listKeys({ after, limit: 1000 })).toEqual(keys.slice(n + 1));
      expect(await listKeys({ after: `${prefix}a`, limit: 2 })).toEqual(keys.slice(3, 5));
      expect(await listKeys({ after: `${prefix}a/`, limit: 2 })).toEqual(keys.slice(4, 6));
      expect(await listKeys({ after: `${prefix}a/c`, limit: 1 })).toEqual(keys.slice(5, 6));
      expect(await listKeys({ after: `${prefix}z`, limit: 2 })).toEqual([]);
    });

    test('listKeys lists the same keys', async () => {
      expect(await stores().store.listKeys(prefix, { limit: 1000 })).toEqual(keys);
      expect(await stores().store.listKeys(prefix, { after: keys[2], limit: 2 })).toEqual(keys.slice(3, 5));
      expect(await stores().store.listKeys(prefix, { limit: 0 })).toEqual([]);
    });

    test('listKeys lists folders in place of what is in them, and continues after each', async () => {
      const shallow = ['0', '1', '10', 'a-b', 'a/', 'a0', 'b'].map((name) => `${prefix}${name}`);
      const listFolders = (after: string | undefined, limit: number) =>
        stores().store.listKeys(prefix, { after, limit, folders: true });
      expect(await listFolders(undefined, 1000)).toEqual(shallow);
      for (const [n, after] of shallow.entries())
        expect(await listFolders(after, 2)).toEqual(shallow.slice(n + 1, n + 3));
    });

    test('reports what stat reports, and the time of the write', async () => {
      const key = `${listingPrefix(newMediaKey())}one`;
      const { crc32: _, ...put } = await stores().store.put(key, Readable.from([Buffer.from('bytes')]));
      const [found] = await stores().store.list(key.slice(0, -3), { limit: 1 });
      expect(found).toEqual({ ...put, writtenAt: expect.any(Date) });
      expect(Math.abs(Date.now() - (found?.writtenAt.getTime() ?? 0))).toBeLessThan(60_000);
      await stores().store.remove(key);
      expect(await stores().store.list(key.slice(0, -3), { limit: 1 })).toEqual([]);
    });

    test('lists more than one page while objects are removed', async () => {
      const many = listingPrefix(newMediaKey());
      const keys = Array.from({ length: 1205 }, (_, n) => `${many}${String(n).padStart(4, '0')}`);
      for (let n = 0; n < keys.length; n += 50)
        await Promise.all(keys.slice(n, n + 50).map((key) => stores().store.putIfAbsent(key, Buffer.alloc(0))));
      const found: string[] = [];
      for await (const { key } of listObjects(stores().store, many)) {
        found.push(key);
        if (found.length === 500) await Promise.all(keys.slice(1100, 1110).map((each) => stores().store.remove(each)));
      }
      expect(found).toEqual([...keys.slice(0, 1100), ...keys.slice(1110)]);
      expect(await Array.fromAsync(listObjects(stores().store, many, keys[1200]), ({ key }) => key)).toEqual(
        keys.slice(1201),
      );
      expect(await Array.fromAsync(allKeys(stores().store, many))).toEqual(found);
      expect(await Array.fromAsync(allKeys(stores().store, 'by-user/', { folders: true }))).toContain(many);
    });

    test.each(['', 'by-user', '../', '/', 'by-user/../'])('refuses %j as a prefix', async (wrong) => {
      await expect(stores().store.list(wrong, { limit: 1 })).rejects.toThrow(TypeError);
    });
  });
}
