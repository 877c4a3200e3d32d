import { Readable } from 'node:stream';
import type { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listKeys } from '@echodrop/object-store/list-objects';
import {
  mediaObjectKey,
  newMediaKey,
  recordKey,
  recordsPrefix,
  renditionKey,
} from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeTombstone, newMediaId, type StoredRecord } from '@echodrop/record';
import { beforeEach, expect, test } from 'vitest';
import { clockedStore, TestClock } from './clocked-store.fixture.ts';
import { useFolderStore } from './folder-store.fixture.ts';
import { listNewest, removeFromListings } from './listing.ts';
import { listingEntryOf } from './listing-keys.ts';
import { publishSample } from './publish-sample.fixture.ts';
import { RecordsMissing, sweep } from './sweep.ts';
import type { SweepReport } from './sweep-report.ts';

const dayMs = 24 * 3_600_000;
const bytes = () => Readable.from([Buffer.from('media')]);
const anyRendition = { name: 'mini', version: 1, extension: 'jpg' } as const;

const opened = useFolderStore();
let plain: FilesystemObjectStore;
let store: ObjectStore;
let clock: TestClock;
let records: StoredRecord[];
let readIds: string[];
let last: SweepReport;

// Three uploads, and a sweep that has read them.
beforeEach(async () => {
  plain = opened.store;
  clock = new TestClock(plain);
  readIds = [];
  const clocked = clockedStore(plain, clock);
  const read: ObjectStore['read'] = (key, options) => {
    if (key.startsWith(recordsPrefix)) readIds.push(key.slice(recordsPrefix.length, -'.json'.length));
    return clocked.read(key, options);
  };
  store = { ...clocked, read };
  records = [await publishSample(plain), await publishSample(plain), await publishSample(plain)];
  await clock.advance(48);
  last = await sweepOnce({});
  readIds = [];
});

async function sweepOnce(options: Partial<Parameters<typeof sweep>[1]>): Promise<SweepReport> {
  const swept = await sweep(store, { olderThanMs: dayMs, dryRun: false, ...options });
  if (swept.incomplete) throw swept.incomplete;
  expect(swept.failure).toBeUndefined();
  return swept.report;
}

const idsOf = (those: readonly StoredRecord[]) => those.map(({ id }) => id).sort();
const allKeys = () =>
  Promise.all(['media/', 'renditions/'].map((prefix) => Array.fromAsync(listKeys(plain, prefix)))).then((keys) =>
    keys.flat(),
  );

test('a sweep after another reads only new records, and lists them', async () => {
  await clock.advance(30);
  const fresh = await publishSample(plain);
  await removeFromListings(plain, listingEntryOf(fresh));
  const report = await sweepOnce({ last });
  expect(readIds).toEqual([fresh.id]);
  expect(report.listings).toEqual({ missing: 1, added: 1 });
  expect((await listNewest(plain, { limit: 9 })).records).toHaveLength(4);
  expect(report.judged?.read).toEqual(last.judged?.read);
  expect(report.judged?.before.getTime()).toBeGreaterThan(last.judged?.before.getTime() ?? Number.NaN);
  readIds = [];
  await clock.advance(1);
  await sweepOnce({ last: report });
  expect(readIds).toEqual([fresh.id]);
  await clock.advance(60);
  await sweepOnce({ last: await sweepOnce({ last: report }) });
  expect(readIds).toEqual([fresh.id, fresh.id]);
});

test.each([
  ['media without a record', async () => plain.put(mediaObjectKey(newMediaKey()), bytes())],
  ['first renditions, without media,', async () => plain.put(renditionKey('0'.repeat(32), anyRendition), bytes())],
  ['last renditions, without media,', async () => plain.put(renditionKey('f'.repeat(32), anyRendition), bytes())],
] as const)('%s: removed once old; until then no record is read', async (_, add) => {
  const before = await allKeys();
  const { key } = await add();
  await clock.advance(3);
  const next = await sweepOnce({ last });
  expect([await allKeys(), readIds]).toEqual([expect.arrayContaining([key]), []]);
  await clock.advance(24);
  await sweepOnce({ last: next });
  expect(await allKeys()).toEqual(before);
  expect(readIds.sort()).toEqual(idsOf(records));
});

test('what an interrupted removal has left is removed at any age', async () => {
  const [first] = records;
  const { id, mediaKey } = first ?? expect.fail('none');
  await plain.put(renditionKey(mediaKey, anyRendition), bytes());
  const removed = { by: 'owner', at: new Date() } as const;
  const tombstone = encodeTombstone({ ...listingEntryOf(first ?? expect.fail('none')), mediaKey, removed });
  await plain.put(recordKey(id), Readable.from([tombstone]));
  await sweepOnce({ last });
  expect(await allKeys()).not.toEqual(expect.arrayContaining([expect.stringContaining(mediaKey)]));
  expect(await allKeys()).toHaveLength(2);
});

test('media that was restored alone stays', async () => {
  const [{ mediaKey } = expect.fail('none')] = records;
  const before = await allKeys();
  await plain.remove(mediaObjectKey(mediaKey));
  await plain.put(mediaObjectKey(mediaKey), bytes());
  await clock.advance(30);
  await sweepOnce({ last });
  expect(await allKeys()).toEqual(before);
});

test('lost records are noticed', async () => {
  for (const { id } of records) await plain.remove(recordKey(id));
  await expect(sweepOnce({ last })).rejects.toThrow(RecordsMissing);
});

test('a new unreadable record makes the sweep incomplete', async () => {
  await plain.putIfAbsent(recordKey(newMediaId()), Buffer.from('{}'));
  await expect(sweepOnce({ last })).rejects.toThrow('is unreadable');
});

test.each([
  ['a week ago', -8 * dayMs],
  ['in the future', dayMs],
])('reads all records if the last sweep that did was %s', async (_, ms) => {
  const { before, read } = last.judged ?? expect.fail('not judged');
  const judged = { before, read: new Date(read.getTime() + ms) };
  const report = await sweepOnce({ last: { ...last, judged } });
  expect(readIds.sort()).toEqual(idsOf(records));
  expect(report.judged?.read.getTime()).toBeGreaterThanOrEqual(read.getTime());
});

test('a dry run removes nothing, and a failed removal is tried again', async () => {
  const { key } = await plain.put(mediaObjectKey(newMediaKey()), bytes());
  await clock.advance(30);
  expect((await sweepOnce({ last, dryRun: true })).kinds.media.found).toBe(1);
  const failing = { ...store, remove: () => Promise.reject(new Error('not allowed')) };
  const { report, failure } = await sweep(failing, { olderThanMs: dayMs, dryRun: false, last });
  expect([failure, report.judged]).toEqual([new Error('not allowed'), last.judged]);
  await sweepOnce({ last: report });
  expect(await allKeys()).not.toContain(key);
});
