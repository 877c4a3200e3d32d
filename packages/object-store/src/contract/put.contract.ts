import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 as crc32Of } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { mediaObjectKey, newMediaKey, recordKey } from '../object-keys.ts';
import { StoreUnavailable } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt, chunkBytes, failingAfter, hangingAfter, inChunks } from '../sources.fixture.ts';
import type { OpenedStores } from './opened-stores.fixture.ts';

/** Writing: `put`, `putIfAbsent`. */
export function putContract(stores: () => OpenedStores): void {
  describe('put', () => {
    test.each([0, 1, chunkBytes, partBytes - 1, partBytes, partBytes + 1, 20 * 1024 * 1024])(
      'stores %i bytes unchanged',
      async (size) => {
        const key = mediaObjectKey(newMediaKey());
        const bytes = randomBytes(size);
        const { crc32, ...put } = await stores().store.put(key, inChunks(bytes));
        expect(put).toEqual({ key, size, etag: expect.stringMatching(/^[\w-]+$/) });
        expect(crc32).toBe(crc32Of(bytes).toString(16).padStart(8, '0'));
        expect(await stores().store.stat(key)).toEqual(put);
        expect(await stores().store.exists(key)).toBe(true);
        const { body, ...described } = (await stores().store.read(key)) ?? expect.fail('nothing to read');
        expect(described).toEqual(put);
        expect((await buffer(body)).equals(bytes)).toBe(true);
      },
    );

    test('a read fails at its end if the CRC-32 is not the expected one', async () => {
      const key = mediaObjectKey(newMediaKey());
      const { crc32 } = await stores().store.put(key, inChunks(randomBytes(partBytes + 1)));
      const read = async (known: string) =>
        buffer((await stores().store.read(key, { crc32: known }))?.body ?? Readable.from([]));
      expect(await read(crc32)).toHaveLength(partBytes + 1);
      await expect(read('00000000')).rejects.toThrow(StoreUnavailable);
    });

    test('stores chunks of seven bytes', async () => {
      const key = mediaObjectKey(newMediaKey());
      const bytes = randomBytes(200_003);
      await stores().store.put(key, inChunks(bytes, 7));
      expect((await bytesAt(stores().store, key))?.equals(bytes)).toBe(true);
    });

    test('stores what comes in one chunk of several parts', async () => {
      const key = mediaObjectKey(newMediaKey());
      const bytes = randomBytes(2 * partBytes + 5);
      await stores().store.put(key, Readable.from([bytes], { objectMode: false }));
      expect((await bytesAt(stores().store, key))?.equals(bytes)).toBe(true);
    });

    test('replaces an object and changes its tag', async () => {
      const key = mediaObjectKey(newMediaKey());
      const first = await stores().store.put(key, Readable.from([Buffer.from('first')]));
      const second = await stores().store.put(key, Readable.from([Buffer.from('other')]));
      expect(second.etag).not.toBe(first.etag);
      expect(`${await bytesAt(stores().store, key)}`).toBe('other');
    });

    test.each([1024, 12 * 1024 * 1024])('leaves nothing behind if the source fails after %i bytes', async (size) => {
      const key = mediaObjectKey(newMediaKey());
      const failure = new Error('the sender disconnected');
      await expect(stores().store.put(key, failingAfter(size, failure))).rejects.toBe(failure);
      expect(await stores().store.stat(key)).toBeUndefined();
    });

    test('leaves nothing behind if the source is destroyed without an error', async () => {
      const key = mediaObjectKey(newMediaKey());
      const source = new Readable({ read() {} });
      source.push(Buffer.alloc(100));
      const putting = stores().store.put(key, source);
      source.destroy();
      await expect(putting).rejects.toThrow('Premature close');
      expect(await stores().store.stat(key)).toBeUndefined();
    });

    test('rejects with the error of a source that failed before', async () => {
      const failure = new Error('gone before');
      const source = new Readable({ read() {} });
      source.once('error', () => {});
      source.destroy(failure);
      await new Promise((resolve) => source.once('close', resolve));
      await expect(stores().store.put(mediaObjectKey(newMediaKey()), source)).rejects.toBe(failure);
    });

    test.each([0, 1024, 12 * 1024 * 1024])(
      'leaves nothing behind if the signal aborts after %i bytes, and rejects with its reason',
      async (size) => {
        const key = mediaObjectKey(newMediaKey());
        const abort = new AbortController();
        const reason = new Error('refused');
        const source = hangingAfter(size, () => abort.abort(reason));
        await expect(stores().store.put(key, source, { signal: abort.signal })).rejects.toBe(reason);
        expect(source.destroyed).toBe(true);
        expect(await stores().store.stat(key)).toBeUndefined();
      },
    );

    test('does not start if the signal is already aborted', async () => {
      const key = mediaObjectKey(newMediaKey());
      const signal = AbortSignal.abort(new Error('too late'));
      const source = Readable.from([Buffer.from('never')]);
      await expect(stores().store.put(key, source, { signal })).rejects.toThrow('too late');
      expect(source.destroyed).toBe(true);
      expect(await stores().store.stat(key)).toBeUndefined();
    });
  });

  describe('putIfAbsent', () => {
    test('keeps the first object and reports a second write', async () => {
      const key = recordKey(newMediaKey());
      expect(await stores().store.putIfAbsent(key, Buffer.from('one'))).toBe('created');
      expect(await stores().store.putIfAbsent(key, Buffer.from('two'))).toMatch(/exists|differs/);
      expect(await stores().store.putIfAbsent(key, Buffer.from('one'))).toBe('exists');
      expect(`${await bytesAt(stores().store, key)}`).toBe('one');
    });

    test('lets exactly one of twenty concurrent writes win, complete', async () => {
      const key = recordKey(newMediaKey());
      const records = Array.from({ length: 20 }, (_, index) => Buffer.alloc(5000, `${index}.`));
      const { store, other } = stores();
      const outcomes = await Promise.all(
        records.map((record, index) => (index % 2 ? other : store).putIfAbsent(key, record)),
      );
      expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
      const winner = records[outcomes.indexOf('created')] as Buffer;
      expect((await bytesAt(stores().store, key))?.equals(winner)).toBe(true);
    });

    test('writes again after a removal', async () => {
      const key = recordKey(newMediaKey());
      await stores().store.putIfAbsent(key, Buffer.from('one'));
      await stores().store.remove(key);
      expect(await stores().store.putIfAbsent(key, Buffer.alloc(0))).toBe('created');
      expect((await stores().store.stat(key))?.size).toBe(0);
    });
  });
}
