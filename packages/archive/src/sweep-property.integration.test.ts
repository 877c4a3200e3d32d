import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { listObjects } from '@echodrop/object-store/list-objects';
import {
  mediaObjectKey,
  mediaPrefix,
  newMediaKey,
  recordKey,
  renditionsPrefix,
} from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { minioStore } from '@echodrop/object-store/s3/minio-store.fixture';
import { encodeStoredRecord, encodeTombstone, type StoredRecord } from '@echodrop/record';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clockedStore, TestClock } from './clocked-store.fixture.ts';
import { listingEntryOf } from './listing-keys.ts';
import { sampleRecord } from './publish-sample.fixture.ts';
import { removeMedia } from './remove-media.ts';
import { sweep } from './sweep.ts';
import type { SweepReport } from './sweep-report.ts';

const dayMs = 24 * 3_600_000;
const maxUploadHours = 12;

const anUpload = fc.record({
  end: fc.constantFrom('publish', 'publish', 'publish', 'discard', 'die'),
  fate: fc.constantFrom('stay', 'stay', 'remove', 'remove half'),
  renditions: fc.nat({ max: 2 }),
});
const aSweep = fc.record({ dryRun: fc.boolean() });

type Upload = typeof anUpload extends fc.Arbitrary<infer U> ? U : never;

describe('on the filesystem', () => {
  testSweeps(30, async () => {
    const folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
    return { store: new FilesystemObjectStore(folder.path), [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
  });
});

describeWithMinio('on MinIO', {}, (startMinio) => {
  testSweeps(10, async () => {
    const minio = await startMinio();
    const store = minioStore(minio);
    return {
      store,
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await minio[Symbol.asyncDispose]();
      },
    };
  });
});

function testSweeps(numRuns: number, open: () => Promise<AsyncDisposable & { store: ObjectStore }>) {
  let opened: AsyncDisposable & { store: ObjectStore };
  beforeAll(async () => {
    opened = await open();
    await opened.store.ready();
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  test('concurrent uploads, removals and sweeps never remove published media, but everything else after a day', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(anUpload, { minLength: 1, maxLength: 6 }),
        fc.array(aSweep, { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 6 }),
        async (scheduler, uploads, sweeps, hours) => {
          await clear(opened.store);
          const archive = new TestArchive(opened.store, () => scheduler.schedule(Promise.resolve()));
          const sweeping = (async () => {
            for (const { dryRun } of sweeps) await archive.sweep(dryRun);
          })();
          const running = [...uploads.map((upload) => archive.upload(upload)), archive.advance(hours), sweeping];
          await scheduler.waitFor(Promise.all(running));
          await archive.check();
        },
      ),
      { numRuns },
    );
  });
}

/** Runs uploads, removals and sweeps in a store and keeps track of what is published. */
class TestArchive {
  readonly #clock: TestClock;
  readonly #store: ObjectStore;
  readonly #plainStore: ObjectStore;
  readonly #turn: () => Promise<void>;
  readonly #published = new Set<string>();
  #lastReport: SweepReport | undefined;
  // Start times of running uploads.
  readonly #running = new Map<string, number>();

  constructor(store: ObjectStore, turn: () => Promise<void>) {
    this.#clock = new TestClock(store);
    this.#plainStore = clockedStore(store, this.#clock);
    this.#store = clockedStore(store, this.#clock, turn);
    this.#turn = turn;
  }

  async upload({ end, fate, renditions }: Upload): Promise<void> {
    const store = this.#store;
    const mediaKey = newMediaKey();
    await this.#turn();
    await this.#clock.settled();
    this.#running.set(mediaKey, this.#clock.now().getTime());
    await store.put(mediaObjectKey(mediaKey), bytes());
    if (end === 'publish') {
      const record = sampleRecord({ mediaKey, timestamp: new Date() });
      await store.putIfAbsent(recordKey(record.id), encodeStoredRecord(record));
      this.#published.add(mediaKey);
      this.#running.delete(mediaKey);
      for (let n = 0; n < renditions; n += 1) await store.put(rendition(mediaKey, n), bytes());
      await this.#remove(record, fate);
    }
    if (end === 'discard') await store.remove(mediaObjectKey(mediaKey));
    this.#running.delete(mediaKey);
  }

  /** Advances the clock, but not beyond the limit of running uploads. */
  async advance(hours: readonly number[]): Promise<void> {
    for (const wanted of hours) {
      await this.#turn();
      const oldest = Math.min(...this.#running.values());
      const remaining = maxUploadHours - (this.#clock.now().getTime() - oldest) / 3_600_000;
      await this.#clock.advance(Math.max(0, Math.min(wanted, remaining)));
    }
  }

  async sweep(dryRun: boolean, store = this.#store) {
    const options = { olderThanMs: dayMs, dryRun, force: true, last: this.#lastReport };
    const { report, incomplete } = await sweep(store, options);
    if (!dryRun && !incomplete) this.#lastReport = report;
    return report;
  }

  async check(): Promise<void> {
    const before = await keysIn(this.#plainStore);
    for (const mediaKey of this.#published) expect(before).toContain(mediaObjectKey(mediaKey));
    await this.#clock.advance(25);
    const dry = await this.sweep(true, this.#plainStore);
    expect(await keysIn(this.#plainStore)).toEqual(before);
    const swept = await this.sweep(false, this.#plainStore);
    const after = await keysIn(this.#plainStore);
    expect(after).toEqual(before.filter((key) => this.#published.has(key.split('/')[1] ?? '')));
    const { media, renditions } = dry.kinds;
    expect(media.found + renditions.found).toBe(before.length - after.length);
    expect([media.removed, renditions.removed]).toEqual([0, 0]);
    expect(swept.kinds.media).toEqual({ ...media, removed: media.found });
    expect(swept.kinds.renditions).toEqual({ ...renditions, removed: renditions.found });
  }

  async #remove(record: StoredRecord, fate: Upload['fate']): Promise<void> {
    if (fate === 'stay') return;
    this.#published.delete(record.mediaKey);
    const removed = { by: 'owner', at: new Date() } as const;
    if (fate === 'remove') await removeMedia(this.#store, record, removed);
    else {
      const tombstone = encodeTombstone({ ...listingEntryOf(record), mediaKey: record.mediaKey, removed });
      await this.#store.put(recordKey(record.id), Readable.from([tombstone]));
    }
  }
}

function rendition(mediaKey: string, n: number): string {
  return `${renditionsPrefix}${mediaKey}/large-${n}.jpg`;
}

function bytes(): Readable {
  return Readable.from([Buffer.from('bytes')]);
}

async function keysIn(store: ObjectStore): Promise<string[]> {
  const lists = [mediaPrefix, renditionsPrefix].map((prefix) =>
    Array.fromAsync(listObjects(store, prefix), ({ key }) => key),
  );
  return (await Promise.all(lists)).flat();
}

async function clear(store: ObjectStore): Promise<void> {
  for (const prefix of [mediaPrefix, renditionsPrefix, 'records/'])
    for await (const { key } of listObjects(store, prefix)) await store.remove(key);
}
