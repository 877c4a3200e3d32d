import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { crc32 as crc32Of } from 'node:zlib';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listObjects } from './every-object.ts';
import { listingPrefix, mediaObjectKey, newMediaKey, recordKey } from './object-keys.ts';
import { type ObjectStore, StoreUnavailable, type UnfinishedWrite } from './object-store.ts';
import { partBytes } from './part-memory.ts';

/** Stores on the same objects, as two processes would have them. */
export interface OpenedStores extends AsyncDisposable {
  readonly store: ObjectStore;
  readonly other: ObjectStore;
}

const chunkBytes = 64 * 1024;

/** What every implementation of ObjectStore has to do. */
export function objectStoreContract(open: () => Promise<OpenedStores>): void {
  let opened: OpenedStores;
  let store: ObjectStore;

  beforeAll(async () => {
    opened = await open();
    store = opened.store;
    await store.ready();
  });

  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
  });

  async function bytesAt(key: string): Promise<Buffer | undefined> {
    const reading = await store.read(key);
    return reading && buffer(reading.body);
  }

  describe('put', () => {
    test.each([0, 1, chunkBytes, partBytes - 1, partBytes, partBytes + 1, 20 * 1024 * 1024])(
      'stores %i bytes as they are',
      async (size) => {
        const key = mediaObjectKey(newMediaKey());
        const bytes = randomBytes(size);
        const { crc32, ...put } = await store.put(key, inChunks(bytes, chunkBytes));
        expect(put).toEqual({ key, size, etag: expect.stringMatching(/^[\w-]+$/) });
        expect(crc32).toBe(crc32Of(bytes).toString(16).padStart(8, '0'));
        expect(await store.stat(key)).toEqual(put);
        expect(await store.exists(key)).toBe(true);
        const { body, ...described } = (await store.read(key)) ?? expect.fail('nothing to read');
        expect(described).toEqual(put);
        expect((await buffer(body)).equals(bytes)).toBe(true);
      },
    );

    test('bytes that differ from the CRC-32 that a reader knows fail at their end', async () => {
      const key = mediaObjectKey(newMediaKey());
      const { crc32 } = await store.put(key, inChunks(randomBytes(partBytes + 1), chunkBytes));
      const read = async (known: string) =>
        buffer((await store.read(key, { crc32: known }))?.body ?? Readable.from([]));
      expect(await read(crc32)).toHaveLength(partBytes + 1);
      await expect(read('00000000')).rejects.toThrow(StoreUnavailable);
    });

    test('stores what comes in chunks of seven bytes', async () => {
      const key = mediaObjectKey(newMediaKey());
      const bytes = randomBytes(200_003);
      await store.put(key, inChunks(bytes, 7));
      expect((await bytesAt(key))?.equals(bytes)).toBe(true);
    });

    test('stores what comes in one chunk of several parts', async () => {
      const key = mediaObjectKey(newMediaKey());
      const bytes = randomBytes(2 * partBytes + 5);
      await store.put(key, Readable.from([bytes], { objectMode: false }));
      expect((await bytesAt(key))?.equals(bytes)).toBe(true);
    });

    test('takes the place of what was there, under another tag', async () => {
      const key = mediaObjectKey(newMediaKey());
      const first = await store.put(key, Readable.from([Buffer.from('first')]));
      const second = await store.put(key, Readable.from([Buffer.from('other')]));
      expect(second.etag).not.toBe(first.etag);
      expect(`${await bytesAt(key)}`).toBe('other');
    });

    test.each([1024, 12 * 1024 * 1024])('leaves nothing when the source fails after %i bytes', async (size) => {
      const key = mediaObjectKey(newMediaKey());
      const failure = new Error('the sender has gone');
      await expect(store.put(key, failingAfter(size, failure))).rejects.toBe(failure);
      expect(await store.stat(key)).toBeUndefined();
    });

    test('leaves nothing when the source is destroyed without a reason', async () => {
      const key = mediaObjectKey(newMediaKey());
      const source = new Readable({ read() {} });
      source.push(Buffer.alloc(100));
      const putting = store.put(key, source);
      source.destroy();
      await expect(putting).rejects.toThrow('Premature close');
      expect(await store.stat(key)).toBeUndefined();
    });

    test('refuses a source that has failed already, with its error', async () => {
      const failure = new Error('gone before');
      const source = new Readable({ read() {} });
      source.once('error', () => {});
      source.destroy(failure);
      await new Promise((resolve) => source.once('close', resolve));
      await expect(store.put(mediaObjectKey(newMediaKey()), source)).rejects.toBe(failure);
    });

    test.each([0, 1024, 12 * 1024 * 1024])(
      'leaves nothing when the signal aborts after %i bytes, and says its reason',
      async (size) => {
        const key = mediaObjectKey(newMediaKey());
        const abort = new AbortController();
        const reason = new Error('refused');
        const source = hangingAfter(size, () => abort.abort(reason));
        await expect(store.put(key, source, { signal: abort.signal })).rejects.toBe(reason);
        expect(source.destroyed).toBe(true);
        expect(await store.stat(key)).toBeUndefined();
      },
    );

    test('does not begin when the signal has aborted before', async () => {
      const key = mediaObjectKey(newMediaKey());
      const signal = AbortSignal.abort(new Error('too late'));
      const source = Readable.from([Buffer.from('never')]);
      await expect(store.put(key, source, { signal })).rejects.toThrow('too late');
      expect(source.destroyed).toBe(true);
      expect(await store.stat(key)).toBeUndefined();
    });
  });

  describe('putIfAbsent', () => {
    test('writes the first and leaves it when a second comes', async () => {
      const key = recordKey(newMediaKey());
      expect(await store.putIfAbsent(key, Buffer.from('one'))).toBe('created');
      expect(await store.putIfAbsent(key, Buffer.from('two'))).toMatch(/exists|differs/);
      expect(await store.putIfAbsent(key, Buffer.from('one'))).toBe('exists');
      expect(`${await bytesAt(key)}`).toBe('one');
    });

    test('lets exactly one of twenty at once write, and what is read is whole', async () => {
      const key = recordKey(newMediaKey());
      const records = Array.from({ length: 20 }, (_, index) => Buffer.alloc(5000, `${index}.`));
      const stores = [opened.store, opened.other];
      const answers = await Promise.all(
        records.map((record, index) => (stores[index % 2] as ObjectStore).putIfAbsent(key, record)),
      );
      expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
      const winner = records[answers.indexOf('created')] as Buffer;
      expect((await bytesAt(key))?.equals(winner)).toBe(true);
    });

    test('writes again where the object was removed', async () => {
      const key = recordKey(newMediaKey());
      await store.putIfAbsent(key, Buffer.from('one'));
      await store.remove(key);
      expect(await store.putIfAbsent(key, Buffer.alloc(0))).toBe('created');
      expect((await store.stat(key))?.size).toBe(0);
    });
  });

  describe('read', () => {
    const bytes = randomBytes(300_000);
    const key = mediaObjectKey(newMediaKey());
    const empty = mediaObjectKey(newMediaKey());

    beforeAll(async () => {
      await store.put(key, inChunks(bytes, chunkBytes));
      await store.put(empty, Readable.from([]));
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
    ])('gives of %s the range from %i of length %i, and the size of the whole', async (at, offset, length) => {
      const whole = at === key ? bytes : Buffer.alloc(0);
      const reading = (await store.read(at, { range: { offset, length } })) ?? expect.fail('nothing to read');
      expect(reading.size).toBe(whole.length);
      expect((await buffer(reading.body)).equals(whole.subarray(offset, offset + length))).toBe(true);
    });

    test('says nothing of objects that are not there', async () => {
      const absent = mediaObjectKey(newMediaKey());
      expect(await store.read(absent)).toBeUndefined();
      expect(await store.read(absent, { range: { offset: 5, length: 5 } })).toBeUndefined();
      expect(await store.read(absent, { range: { offset: 5, length: 0 } })).toBeUndefined();
      expect(await store.stat(absent)).toBeUndefined();
      expect(await store.stat('media')).toBeUndefined();
      expect([await store.exists(absent), await store.exists('media')]).toEqual([false, false]);
    });

    test('ends with the reason of a signal that aborts', async () => {
      const large = mediaObjectKey(newMediaKey());
      await store.put(large, inChunks(randomBytes(partBytes), chunkBytes));
      const abort = new AbortController();
      const reading = (await store.read(large, { signal: abort.signal })) ?? expect.fail('nothing to read');
      abort.abort(new Error('enough'));
      await expect(buffer(reading.body)).rejects.toThrow('enough');
      await expect(store.read(large, { signal: abort.signal })).rejects.toThrow('enough');
    });

    test('may be given up in the middle, many times over', async () => {
      const large = mediaObjectKey(newMediaKey());
      await store.put(large, inChunks(randomBytes(partBytes), chunkBytes));
      for (let round = 0; round < 50; round += 1) {
        const reading = (await store.read(large)) ?? expect.fail('nothing to read');
        reading.body.destroy();
      }
      expect((await bytesAt(large))?.length).toBe(partBytes);
    });
  });

  describe('list', () => {
    const owner = newMediaKey();
    const prefix = listingPrefix(owner);
    // In the order of their bytes: a hyphen comes before a slash, and a slash before digits.
    const names = ['0', '1', '10', 'a-b', 'a/b', 'a/c/d', 'a0', 'b'];
    const keys = names.map((name) => `${prefix}${name}`);
    const listed = async (page: { after?: string; limit: number }) =>
      (await store.list(prefix, page)).map(({ key }) => key);

    beforeAll(async () => {
      for (const key of keys.toReversed()) await store.putIfAbsent(key, Buffer.alloc(0));
      await store.putIfAbsent(`${listingPrefix(newMediaKey())}0`, Buffer.alloc(0));
    });

    test('gives all below a prefix in the order of their keys, and nothing else', async () => {
      expect(await listed({ limit: 1000 })).toEqual(keys);
      expect(await listed({ limit: 5000 })).toEqual(keys);
      expect(await store.list(listingPrefix(newMediaKey()), { limit: 10 })).toEqual([]);
    });

    test.each([0, 1, 3, 8])('gives at most %i of them', async (limit) => {
      expect(await listed({ limit })).toEqual(keys.slice(0, limit));
    });

    test('goes on after any key, be it there or not', async () => {
      for (const [n, after] of keys.entries()) expect(await listed({ after, limit: 1000 })).toEqual(keys.slice(n + 1));
      expect(await listed({ after: `${prefix}a`, limit: 2 })).toEqual(keys.slice(3, 5));
      expect(await listed({ after: `${prefix}a/`, limit: 2 })).toEqual(keys.slice(4, 6));
      expect(await listed({ after: `${prefix}a/c`, limit: 1 })).toEqual(keys.slice(5, 6));
      expect(await listed({ after: `${prefix}z`, limit: 2 })).toEqual([]);
    });

    test('says of each what stat says, and when it was written', async () => {
      const key = `${listingPrefix(newMediaKey())}one`;
      const { crc32: _, ...put } = await store.put(key, Readable.from([Buffer.from('bytes')]));
      const [found] = await store.list(key.slice(0, -3), { limit: 1 });
      expect(found).toEqual({ ...put, writtenAt: expect.any(Date) });
      expect(Math.abs(Date.now() - (found?.writtenAt.getTime() ?? 0))).toBeLessThan(60_000);
      await store.remove(key);
      expect(await store.list(key.slice(0, -3), { limit: 1 })).toEqual([]);
    });

    test('goes through more than one call gives, past what is removed meanwhile', async () => {
      const many = listingPrefix(newMediaKey());
      const keys = Array.from({ length: 1205 }, (_, n) => `${many}${String(n).padStart(4, '0')}`);
      for (let n = 0; n < keys.length; n += 50)
        await Promise.all(keys.slice(n, n + 50).map((key) => store.putIfAbsent(key, Buffer.alloc(0))));
      const found: string[] = [];
      for await (const { key } of listObjects(store, many)) {
        found.push(key);
        if (found.length === 500) await Promise.all(keys.slice(1100, 1110).map((each) => store.remove(each)));
      }
      expect(found).toEqual([...keys.slice(0, 1100), ...keys.slice(1110)]);
      expect(await Array.fromAsync(listObjects(store, many, keys[1200]), ({ key }) => key)).toEqual(keys.slice(1201));
    });

    test.each(['', 'by-user', '../', '/', 'by-user/../'])('refuses %j as a prefix', async (wrong) => {
      await expect(store.list(wrong, { limit: 1 })).rejects.toThrow(TypeError);
    });
  });

  test('remove takes an object away, and takes it calmly that there is none', async () => {
    const key = mediaObjectKey(newMediaKey());
    await store.put(key, Readable.from([Buffer.from('bytes')]));
    await store.remove(key);
    await store.remove(key);
    expect(await store.stat(key)).toBeUndefined();
  });

  describe('unfinished', () => {
    const unfinished = () => Array.fromAsync(store.unfinished());

    test('tells of a write that runs, by whichever process, and of none once it has ended', async () => {
      const before = new Set((await unfinished()).map(({ id }) => id));
      const key = mediaObjectKey(newMediaKey());
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const source = Readable.from(
        (async function* () {
          yield Buffer.alloc(partBytes + 1);
          begun.resolve();
          await end.promise;
        })(),
        { objectMode: false },
      );
      const putting = opened.other.put(key, source);
      await begun.promise;
      const running = (await waited(unfinished, before)) ?? expect.fail('nothing is told of it');
      expect(running.key ?? key).toBe(key);
      expect(Math.abs(Date.now() - running.writtenAt.getTime())).toBeLessThan(60_000);
      end.resolve();
      const { crc32: _, ...put } = await putting;
      expect((await unfinished()).filter(({ id }) => !before.has(id))).toEqual([]);
      await store.abandon(running);
      await store.abandon(running);
      expect(await store.stat(key)).toEqual(put);
    });

    test('a write that is taken back is told of no more, and makes no object', async () => {
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
      const putting = opened.other.put(key, source);
      putting.catch(() => {});
      await store.abandon((await waited(unfinished, before)) ?? expect.fail('nothing is told of it'));
      expect((await unfinished()).filter(({ id }) => !before.has(id))).toEqual([]);
      end.resolve();
      await expect(putting).rejects.toThrow(StoreUnavailable);
      expect(await store.stat(key)).toBeUndefined();
    });
  });

  test('the clock is the one that writing goes by', async () => {
    const prefix = listingPrefix(newMediaKey());
    const before = await store.clock();
    await store.putIfAbsent(`${prefix}0`, Buffer.alloc(0));
    const after = await store.clock();
    const [{ writtenAt } = expect.fail('nothing is listed')] = await store.list(prefix, { limit: 1 });
    expect(writtenAt.getTime()).toBeGreaterThan(before.getTime() - 1000);
    expect(writtenAt.getTime()).toBeLessThan(after.getTime() + 1000);
  });

  test('a rendition lies below the key of its media', async () => {
    const key = `renditions/${newMediaKey()}/large-1.jpg`;
    await store.put(key, Readable.from([Buffer.from('picture')]), { contentType: 'image/jpeg' });
    expect(`${await bytesAt(key)}`).toBe('picture');
  });

  test.each([
    '',
    '/etc/passwd',
    '../x',
    'media/../x',
    'media//x',
    'media/',
    'media/a?b',
    'media/a\0',
    '.hidden',
    'a\\b',
  ])('refuses %j as a key', async (key) => {
    await expect(store.stat(key)).rejects.toThrow(TypeError);
    await expect(store.putIfAbsent(key, Buffer.alloc(1))).rejects.toThrow(TypeError);
  });

  test('ready may be asked by many at once', async () => {
    await Promise.all([opened.store, opened.other, opened.store].map((each) => each.ready()));
  });
}

async function waited(unfinished: () => Promise<UnfinishedWrite[]>, before: ReadonlySet<string>) {
  let found: UnfinishedWrite | undefined;
  await waitUntil('a write that is told of', 5000, async () => {
    found = (await unfinished()).find(({ id }) => !before.has(id));
    return found !== undefined;
  });
  return found;
}

/** `bytes` as a source that gives `chunk` bytes at a time. */
export function inChunks(bytes: Buffer, chunk: number): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
    })(),
    { objectMode: false },
  );
}

export function failingAfter(size: number, failure: Error): Readable {
  return hangingAfter(size, (source) => source.destroy(failure));
}

/** A source that gives `size` bytes, then calls `then` and gives no more. */
export function hangingAfter(size: number, then: (source: Readable) => void): Readable {
  let given = 0;
  return new Readable({
    read() {
      if (given >= size) {
        setImmediate(then, this);
        return;
      }
      given += chunkBytes;
      this.push(Buffer.alloc(chunkBytes, 1));
    },
  });
}
