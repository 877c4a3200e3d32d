import { rm, truncate, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { listingEntryOf, listingKeys } from '@echodrop/archive/listing';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { removeMedia } from '@echodrop/archive/remove-media';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { mediaObjectKey, newMediaKey, recordKey } from '@echodrop/object-store/object-keys';
import { encodeStoredRecord, encodeTombstone, newMediaId, type StoredRecord } from '@echodrop/record';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { adminHere, newDataDir } from './admin.fixture.ts';
import { verified } from './verify-store.ts';

const removed = { by: 'owner', at: new Date('2026-11-20T08:00:00Z') } as const;
const tenDaysAgo = new Date(Date.now() - 240 * 3_600_000);

let parts: AsyncDisposableStack;
let folder: string;
let store: FilesystemObjectStore;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  ({ folder, store } = await newDataDir(parts));
  // In a store where all is well there are published and removed uploads.
  await publishSample(store);
  await removeMedia(store, await publishSample(store), removed);
});
afterEach(() => parts.disposeAsync());

function verify(...args: string[]) {
  return adminHere(['verify-store', ...args], { DATA_DIR: folder });
}

function pathOf(key: string): string {
  return join(folder, 'store/objects', key);
}

async function put(key: string, bytes: string | Buffer = 'media'): Promise<void> {
  await store.put(key, Readable.from([Buffer.from(bytes)]));
}

type Planted = (sample: StoredRecord) => Promise<readonly [key: string, said: RegExp]>;

const faults: Record<string, Planted> = {
  'a record that is cut off': async ({ id }) => {
    await truncate(pathOf(recordKey(id)), 20);
    return [recordKey(id), /WRONG: the record cannot be read \(it is no JSON\)/];
  },
  'a record of a later version': async (record) => {
    const later = encodeStoredRecord(record).toString().replace('"version":1', '"version":7');
    await put(recordKey(record.id), later);
    return [recordKey(record.id), /WRONG: the record cannot be read \(.*version 7/];
  },
  'a record under another name': async (record) => {
    const key = recordKey(newMediaId());
    await put(key, encodeStoredRecord(record));
    return [key, new RegExp(`WRONG: it is the record of ${record.id}`)];
  },
  'what is no record among the records': async ({ id }) => {
    const key = `records/${id}.json.bak`;
    await put(key);
    return [key, /WRONG: it lies among the records/];
  },
  'media that is missing': async ({ mediaKey, id }) => {
    await rm(pathOf(mediaObjectKey(mediaKey)));
    return [mediaObjectKey(mediaKey), new RegExp(`WRONG: the media of ${id} is not there`)];
  },
  'media that is cut off': async ({ mediaKey, id }) => {
    await truncate(pathOf(mediaObjectKey(mediaKey)), 3);
    return [mediaObjectKey(mediaKey), new RegExp(`WRONG: the media of ${id} has 3 bytes, its record says 5`)];
  },
  'media that was written anew': async ({ mediaKey }) => {
    await put(mediaObjectKey(mediaKey), 'MEDIA');
    return [mediaObjectKey(mediaKey), /WRONG: .* has the tag 5-\w+, its record says 5-\w+/];
  },
  'an upload that no list of its user has': async (record) => {
    const [key = ''] = listingKeys(listingEntryOf(record));
    await store.remove(key);
    return [key, new RegExp(`WRONG: the list lacks ${record.id}`)];
  },
  'an entry of a record that is not there': async (record) => {
    const [, key = ''] = listingKeys(listingEntryOf({ ...record, id: newMediaId() }));
    await put(key, '');
    return [key, /WRONG: it lists nothing/];
  },
  'an entry at another time than its record has': async (record) => {
    const [, key = ''] = listingKeys(listingEntryOf({ ...record, timestamp: new Date() }));
    await put(key, '');
    return [key, /WRONG: it lists nothing/];
  },
  'an entry of another user': async (record) => {
    const [key = ''] = listingKeys(listingEntryOf({ ...record, subject: 'bob' }));
    await put(key, '');
    return [key, /WRONG: it lists nothing/];
  },
  'a removal that has left media': async () => {
    const record = await publishSample(store);
    await removeMedia(store, record, removed);
    await put(mediaObjectKey(record.mediaKey));
    return [mediaObjectKey(record.mediaKey), new RegExp(`WRONG: .*remove ${record.id}`)];
  },
  'a removal that has left a rendition': async () => {
    const record = await publishSample(store);
    await removeMedia(store, record, removed);
    const key = `renditions/${record.mediaKey}/large-1.jpg`;
    await put(key);
    return [key, new RegExp(`WRONG: .*remove ${record.id}`)];
  },
};

const leftovers: Record<string, Planted> = {
  'media without a record, young': async () => {
    const key = mediaObjectKey(newMediaKey());
    await put(key);
    return [key, /: media without a record, 5 bytes, younger than a day/];
  },
  'media without a record, old': async () => {
    const key = mediaObjectKey(newMediaKey());
    await put(key);
    await utimes(pathOf(key), tenDaysAgo, tenDaysAgo);
    return [key, /: media without a record, 5 bytes: sweep removes it/];
  },
  'a rendition of no record': async () => {
    const key = `renditions/${newMediaKey()}/large-1.jpg`;
    await put(key, 'picture');
    await utimes(pathOf(key), tenDaysAgo, tenDaysAgo);
    return [key, /: a rendition of media without a record, 7 bytes: sweep removes it/];
  },
};

test('where all is well nothing is told, and what runs is nothing wrong', async () => {
  // An upload that is not listed yet, a removal that is not done yet.
  const record = await publishSample(store, { timestamp: new Date() });
  for (const key of listingKeys(listingEntryOf(record))) await store.remove(key);
  const other = await publishSample(store);
  const tombstone = {
    ...listingEntryOf(other),
    mediaKey: other.mediaKey,
    removed: { by: 'owner', at: new Date() },
  } as const;
  await put(recordKey(other.id), encodeTombstone(tombstone));
  const { exitCode, stdout } = await verify('--bytes');
  expect([exitCode, stdout]).toEqual([0, '4 records were looked at: 0 leftovers, 0 faults.']);
});

test.each(Object.entries(faults))('%s is found, and nothing else', async (_, plant) => {
  const [key, said] = await plant(await publishSample(store));
  const { exitCode, lines } = await verify();
  expect(lines.filter((line) => line.includes('WRONG'))).toHaveLength(1);
  expect(lines[0]?.split(':')[0]).toBe(key);
  expect(lines[0]).toMatch(said);
  expect(exitCode).toBe(1);
});

test.each(Object.entries(leftovers))('%s is told, and is not wrong', async (_, plant) => {
  const [key, said] = await plant(await publishSample(store));
  const { exitCode, lines } = await verify();
  expect(lines).toEqual([expect.stringMatching(said), '3 records were looked at: 1 leftovers, 0 faults.']);
  expect(lines[0]?.split(':')[0]).toBe(key);
  expect(exitCode).toBe(0);
});

test('of all of them at once each is told once', async () => {
  const expected = [];
  for (const [name, plant] of Object.entries({ ...faults, ...leftovers })) {
    if (!/cut off$|later version/.test(name) || name.startsWith('media'))
      expected.push((await plant(await publishSample(store)))[0]);
  }
  const { lines } = await verify();
  expect(lines.slice(0, -1).map((line) => line.split(':')[0])).toHaveLength(expected.length);
  expect(new Set(lines.slice(0, -1).map((line) => line.split(':')[0]))).toEqual(new Set(expected));
  expect(lines.at(-1)).toMatch(/: 3 leftovers, 11 faults.$/);
});

test('a check goes on where another has ended, and one key at a time tells the same', async () => {
  const [, second] = [await publishSample(store), await publishSample(store), await publishSample(store)];
  await store.remove(mediaObjectKey(second.mediaKey));
  const { stdout } = await verify('--after', recordKey(second.id));
  expect(stdout).toMatch(/^\d records were looked at from the cursor on: 0 leftovers, 0 faults.$/);
  expect((await verify('--after', 'records/', '--at-once', '1')).lines).toHaveLength(2);
  expect((await verify('--after', 'media/')).stdout).toMatch(
    /^\d records were looked at from the cursor on: 0 leftovers, 0 faults.$/,
  );
  expect((await verify('--after', 'elsewhere/')).exitCode).toBe(2);
});

test('a check that is stopped tells how to go on, and between them both tell everything', async () => {
  for (let n = 0; n < 5; n += 1) await store.remove(mediaObjectKey((await publishSample(store)).mediaKey));
  const stop = new AbortController();
  const looking = { atOnce: 1, isMoved: false, readsBytes: false, signal: stop.signal };
  const lines: string[] = [];
  const stopped = (async () => {
    for await (const line of verified(store, looking)) {
      lines.push(line);
      stop.abort(new Error('stopped'));
    }
  })();
  await expect(stopped).rejects.toThrow('stopped');
  const cursor = /^To go on from here: --after (records\/\w{10}\.json)$/.exec(lines.at(-1) ?? '')?.[1] ?? '';
  const { lines: rest } = await verify('--after', cursor);
  expect(new Set([...lines.slice(0, -1), ...rest.slice(0, -1)]).size).toBe(5);
  expect(rest.length).toBeLessThan(6);
});

test('bytes that were changed and keep size and time are found when they are read', async () => {
  const md5 = 'af0f64b5d2cb2bf4bf0f4d7ac1e7f0b0';
  const [spoiled, whole] = [await publishSample(store, { etag: md5 }), await publishSample(store, { etag: '?' })];
  await put(recordKey(whole.id), encodeStoredRecord({ ...whole, etag: '62933a2951ef01f4eafd9bdf4d3cd2f0' }));
  expect((await verify('--moved')).exitCode).toBe(0);
  const { lines } = await verify('--moved', '--bytes');
  expect(lines).toEqual([
    expect.stringContaining(`${mediaObjectKey(spoiled.mediaKey)}: WRONG: the media of ${spoiled.id} is not what was`),
    '4 records were looked at: 0 leftovers, 1 faults.',
  ]);
});
