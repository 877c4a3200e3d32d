import { mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { describe, expect, test } from 'vitest';
import { objectStoreContract } from './contract/object-store.contract.ts';
import { FilesystemObjectStore } from './filesystem/filesystem-object-store.ts';
import { CrowdedOut } from './object-store.ts';
import { observeStore } from './observed-object-store.ts';
import { failingAfter } from './sources.fixture.ts';

async function open() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-observed-'));
  const metrics = new Metrics('test');
  return {
    folder: folder.path,
    store: observeStore(new FilesystemObjectStore(folder.path), metrics),
    other: observeStore(new FilesystemObjectStore(folder.path), new Metrics('test')),
    counts: () => counts(metrics),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function counts(metrics: Metrics): Promise<Record<string, number>> {
  const { text } = await metrics.exposition();
  const lines = text.matchAll(
    /^echodrop_store_call_seconds_count\{service="test",operation="(.*)",outcome="(.*)"\} ([1-9]\d*)$/gm,
  );
  return Object.fromEntries(
    [...lines].map(([, operation, outcome, count]) => [`${operation} ${outcome}`, Number(count)]),
  );
}

describe('an observed store fulfils the contract', () => {
  objectStoreContract(open);
});

test('measures every call by operation and outcome', async () => {
  await using opened = await open();
  const { store } = opened;
  await store.ready();
  await store.put('media/one', Readable.from([Buffer.from('bytes')]));
  await expect(store.put('media/two', failingAfter(10, new Error('the sender left')))).rejects.toThrow(
    'the sender left',
  );
  await store.putIfAbsent('records/one.json', Buffer.from('{}'));
  await store.putIfAbsent('records/one.json', Buffer.from('{}'));
  const reading = await store.read('media/one');
  if (reading) await buffer(reading.body);
  (await store.read('media/one'))?.body.destroy();
  await store.read('media/none');
  await store.stat('media/one');
  await store.stat('media/none');
  await store.list('media/', { limit: 10 });
  await store.remove('media/one');
  const expected = {
    'ready ok': 1,
    'put ok': 1,
    'put aborted': 1,
    'put_if_absent ok': 1,
    'put_if_absent exists': 1,
    'read ok': 2,
    'read absent': 1,
    'read_body ok': 1,
    'read_body aborted': 1,
    'stat ok': 1,
    'stat absent': 1,
    'list ok': 1,
    'remove ok': 1,
  };
  await waitUntil('the end of both bodies', async () => Object.keys(await opened.counts()).length === 13);
  expect(await opened.counts()).toEqual(expected);
});

test('distinguishes an unreachable store from a lack of part memory', async () => {
  await using opened = await open();
  await rm(opened.folder, { recursive: true });
  const nowhere = new FilesystemObjectStore('/dev/null/store');
  const metrics = new Metrics('test');
  const store = observeStore(nowhere, metrics);
  await expect(store.ready()).rejects.toThrow();
  const crowded = Readable.from([]).destroy(new CrowdedOut('others were faster', false));
  await expect(opened.store.put('media/one', crowded)).rejects.toThrow(CrowdedOut);
  expect(await counts(metrics)).toEqual({ 'ready unavailable': 1 });
  expect(await opened.counts()).toEqual({ 'put crowded_out': 1 });
  expect((await metrics.exposition()).text).toContain('operation="put",outcome="unavailable"} 0\n');
});
