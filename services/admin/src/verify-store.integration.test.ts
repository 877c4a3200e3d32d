import { rm, truncate, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { listingEntryOf, listingKeys } from '@echodrop/archive/listing-keys';
import { publishSample } from '@echodrop/archive/publish-sample.fixture';
import { removeMedia } from '@echodrop/archive/remove-media';
import { mediaObjectKey, newMediaKey, recordKey } from '@echodrop/object-store/object-keys';
import { encodeStoredRecord, encodeTombstone, newMediaId, type StoredRecord } from '@echodrop/record';
import { beforeEach, expect, test } from 'vitest';
import { runCommand, useDataDir } from './admin.fixture.ts';
import { checkStore } from './check-store.ts';
import { Progress } from './progress.ts';
import { watchedStore } from './watched-store.ts';

const removed = { by: 'owner', at: new Date('2026-11-20T08:00:00Z') } as const;
const tenDaysAgo = new Date(Date.now() - 240 * 3_600_000);

const dataDir = useDataDir();
beforeEach(async () => {
  // A healthy store with a published and a removed upload.
  await publishSample(dataDir.store);
  await removeMedia(dataDir.store, await publishSample(dataDir.store), removed);
});

function verify(...args: string[]) {
  return runCommand(['verify-store', ...args], { DATA_DIR: dataDir.folder });
}

function pathOf(key: string): string {
  return join(dataDir.folder, 'store/objects', key);
}

async function put(key: string, bytes: string | Buffer = 'media'): Promise<void> {
  await dataDir.store.put(key, Readable.from([Buffer.from(bytes)]));
}

type Planted = (sample: StoredRecord) => Promise<readonly [key: string, expected: RegExp]>;

/** Plants an object with a key that depends on a published upload. */
function planted(keyOf: (sample: StoredRecord) => string, expected: RegExp): Planted {
  return async (sample) => {
    const key = keyOf(sample);
    await put(key, '');
    return [key, expected];
  };
}

const foreign = /FAULT: not an object of Echodrop/;
const listsNothing = /FAULT: listing entry without a published upload/;
const entryKeysOf = (record: StoredRecord) => listingKeys(listingEntryOf(record));

const faults: Record<string, Planted> = {
  'an object of another application among the media': planted(() => `media/${newMediaKey()}/copy`, foreign),
  'an object of another application among the blocks': planted(() => 'blocks/users/ada', foreign),
  'an object of another application among the renditions': planted(() => 'renditions/thumb.jpg', foreign),
  'an entry without a record': planted((sample) => entryKeysOf({ ...sample, id: newMediaId() })[1] ?? '', listsNothing),
  'an entry with the wrong time': planted(
    (sample) => entryKeysOf({ ...sample, timestamp: new Date() })[1] ?? '',
    listsNothing,
  ),
  'an entry of the wrong user': planted((sample) => entryKeysOf({ ...sample, subject: 'bob' })[0] ?? '', listsNothing),
  'a truncated record': async ({ id }) => {
    await truncate(pathOf(recordKey(id)), 20);
    return [recordKey(id), /FAULT: record unreadable \(invalid JSON\)\. Restore .* from a backup.* delete records/];
  },
  'a record of a later version': async (record) => {
    const later = encodeStoredRecord(record).toString().replace('"version":1', '"version":7');
    await put(recordKey(record.id), later);
    return [recordKey(record.id), /FAULT: record unreadable \(.*version 7.*upgrade again/];
  },
  'a record under another name': async (record) => {
    const key = recordKey(newMediaId());
    await put(key, encodeStoredRecord(record));
    return [key, new RegExp(`FAULT: record unreadable \\(record of another id, ${record.id}\\)`)];
  },
  'an object among the records that is not one': async ({ id }) => {
    const key = `records/${id}.json.bak`;
    await put(key);
    return [key, /FAULT: not a record/];
  },
  'missing media': async ({ mediaKey, id }) => {
    await rm(pathOf(mediaObjectKey(mediaKey)));
    return [mediaObjectKey(mediaKey), new RegExp(`FAULT: media of ${id} is missing`)];
  },
  'truncated media': async ({ mediaKey, id }) => {
    await truncate(pathOf(mediaObjectKey(mediaKey)), 3);
    return [mediaObjectKey(mediaKey), new RegExp(`FAULT: media of ${id} has 3 bytes; its record says 5`)];
  },
  'rewritten media': async ({ mediaKey }) => {
    await put(mediaObjectKey(mediaKey), 'MEDIA');
    return [mediaObjectKey(mediaKey), /FAULT: .* has the tag 5-\w+; its record says 5-\w+/];
  },
  'an upload missing from the list of its user': async (record) => {
    const [key = ''] = listingKeys(listingEntryOf(record));
    await dataDir.store.remove(key);
    return [key, new RegExp(`FAULT: listing entry of ${record.id} is missing`)];
  },
  'an unreadable block': async () => {
    const key = `blocks/users/${newMediaKey()}`;
    await put(key, '{}');
    return [key, /FAULT: block unreadable \(invalid block\), but it still blocks uploads\. To lift it, delete/];
  },
  'media left by a removal': async () => {
    const record = await publishSample(dataDir.store);
    await removeMedia(dataDir.store, record, removed);
    await put(mediaObjectKey(record.mediaKey));
    return [mediaObjectKey(record.mediaKey), new RegExp(`FAULT: .*remove ${record.id}`)];
  },
  'a rendition left by a removal': async () => {
    const record = await publishSample(dataDir.store);
    await removeMedia(dataDir.store, record, removed);
    const key = `renditions/${record.mediaKey}/large-1.jpg`;
    await put(key);
    return [key, new RegExp(`FAULT: .*remove ${record.id}`)];
  },
};

const orphans: Record<string, Planted> = {
  'young orphaned media': async () => {
    const key = mediaObjectKey(newMediaKey());
    await put(key);
    return [key, /: orphaned media, 5 bytes, younger than a day/];
  },
  'old orphaned media': async () => {
    const key = mediaObjectKey(newMediaKey());
    await put(key);
    await utimes(pathOf(key), tenDaysAgo, tenDaysAgo);
    return [key, /: orphaned media, 5 bytes: sweep deletes it/];
  },
  'a rendition of orphaned media': async () => {
    const key = `renditions/${newMediaKey()}/large-1.jpg`;
    await put(key, 'picture');
    await utimes(pathOf(key), tenDaysAgo, tenDaysAgo);
    return [key, /: rendition of orphaned media, 7 bytes: sweep deletes it/];
  },
};

test('reports nothing in a healthy store, nor for uploads and removals in progress', async () => {
  // An upload that is not listed yet, and an incomplete removal.
  const record = await publishSample(dataDir.store, { timestamp: new Date() });
  for (const key of listingKeys(listingEntryOf(record))) await dataDir.store.remove(key);
  const other = await publishSample(dataDir.store);
  const tombstone = {
    ...listingEntryOf(other),
    mediaKey: other.mediaKey,
    removed: { by: 'owner', at: new Date() },
  } as const;
  await put(recordKey(other.id), encodeTombstone(tombstone));
  const { exitCode, stdout } = await verify('--bytes');
  expect([exitCode, stdout]).toEqual([0, 'Checked 4 records: 0 orphans, 0 faults.']);
});

// With one of these, no orphan is certain.
const unreadable = ['a truncated record', 'a record of a later version', 'a record under another name'];

test.each(unreadable)('finds %s, and nothing else', async (name) => {
  const [key, expected] = (await faults[name]?.(await publishSample(dataDir.store))) ?? expect.fail();
  const { exitCode, lines } = await verify();
  expect(lines.filter((line) => line.includes('FAULT'))).toEqual([expect.stringMatching(expected)]);
  expect([exitCode, lines[0]?.split(':')[0]]).toEqual([1, key]);
});

test('finds each other fault and each orphan once, and nothing else', async () => {
  const others = Object.entries({ ...faults, ...orphans }).filter(([name]) => !unreadable.includes(name));
  const expected = new Map<string, unknown>();
  for (const [, plant] of others) {
    const [key, text] = await plant(await publishSample(dataDir.store));
    expected.set(key, expect.stringMatching(text));
  }
  const { exitCode, lines } = await verify();
  const found = lines.slice(0, -1).map((line) => [line.split(':')[0] ?? '', line] as const);
  expect(found).toHaveLength(others.length);
  expect(new Map(found)).toEqual(expected);
  expect([exitCode, lines.at(-1)]).toEqual([1, expect.stringMatching(/: 3 orphans, 14 faults.$/)]);
});

test('orphans alone are no faults', async () => {
  for (const plant of Object.values(orphans)) await plant(await publishSample(dataDir.store));
  const { exitCode, lines } = await verify();
  expect([exitCode, lines.at(-1)]).toEqual([0, 'Checked 5 records: 3 orphans, 0 faults.']);
});

test('does not claim to have searched orphans while a record is unreadable, and counts only records', async () => {
  const { id } = await publishSample(dataDir.store);
  await put(recordKey(id), '{}');
  await put(`records/${id}.json.bak`);
  const { exitCode, lines } = await verify();
  expect([exitCode, ...lines.slice(-2)]).toEqual([
    1,
    expect.stringContaining(`${recordKey(id)}: orphans were not searched: `),
    'Checked 3 records: orphans not searched, 2 faults.',
  ]);
});

test('continues from a cursor, also with one object at a time', async () => {
  const [, second] = [
    await publishSample(dataDir.store),
    await publishSample(dataDir.store),
    await publishSample(dataDir.store),
  ];
  await dataDir.store.remove(mediaObjectKey(second.mediaKey));
  const { stdout } = await verify('--after', recordKey(second.id));
  expect(stdout).toMatch(/^Checked \d records after the cursor: 0 orphans, 0 faults.$/);
  expect((await verify('--after', 'records/', '--concurrency', '1')).lines).toHaveLength(2);
  expect((await verify('--after', 'media/')).stdout).toMatch(
    /^Checked \d records after the cursor: 0 orphans, 0 faults.$/,
  );
  expect((await verify('--after', 'elsewhere/')).exitCode).toBe(2);
});

test('an interrupted check prints a cursor, and the next check reports the rest', async () => {
  for (let n = 0; n < 5; n += 1)
    await dataDir.store.remove(mediaObjectKey((await publishSample(dataDir.store)).mediaKey));
  const stop = new AbortController();
  const options = { concurrency: 1, isMoved: false, shouldReadBytes: false };
  using progress = new Progress(() => {}, 60_000);
  const watched = watchedStore(dataDir.store, stop.signal, progress);
  const lines: string[] = [];
  const stopped = (async () => {
    for await (const line of checkStore(watched, options)) {
      lines.push(line);
      stop.abort(new Error('stopped'));
    }
  })();
  await expect(stopped).rejects.toThrow('stopped');
  const cursor = /^To continue: --after (records\/\w{10}\.json)$/.exec(lines.at(-1) ?? '')?.[1] ?? '';
  const { lines: rest } = await verify('--after', cursor);
  expect(new Set([...lines.slice(0, -1), ...rest.slice(0, -1)]).size).toBe(5);
  expect(rest.length).toBeLessThan(6);
});

test('--bytes finds changed bytes of the same size and time', async () => {
  const md5 = 'af0f64b5d2cb2bf4bf0f4d7ac1e7f0b0';
  const spoiled = await publishSample(dataDir.store, { etag: md5 });
  const whole = await publishSample(dataDir.store, { etag: '?' });
  await put(recordKey(whole.id), encodeStoredRecord({ ...whole, etag: '62933a2951ef01f4eafd9bdf4d3cd2f0' }));
  expect((await verify('--moved')).exitCode).toBe(0);
  const { lines } = await verify('--moved', '--bytes');
  expect(lines).toEqual([
    expect.stringContaining(`${mediaObjectKey(spoiled.mediaKey)}: FAULT: media of ${spoiled.id} is corrupt`),
    'Checked 4 records: 0 orphans, 1 faults.',
  ]);
});
