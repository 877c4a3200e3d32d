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
import { encodeStoredRecord, encodeTombstone, newMediaId, type StoredRecord } from '@echodrop/record';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clockedStore, TestClock } from './clocked-store.fixture.ts';
import { listingEntryOf } from './listing.ts';
import { removeMedia } from './remove-media.ts';
import { sweep } from './sweep.ts';

const dayMs = 24 * 3_600_000;
const longestUploadHours = 12;

const anUpload = fc.record({
  end: fc.constantFrom('publish', 'publish', 'publish', 'discard', 'die'),
  fate: fc.constantFrom('stay', 'stay', 'remove', 'remove half'),
  renditions: fc.nat({ max: 2 }),
});
const aSweep = fc.record({ dryRun: fc.boolean(), keysPerBatch: fc.integer({ min: 1, max: 4 }) });

type Upload = typeof anUpload extends fc.Arbitrary<infer U> ? U : never;

describe('on the filesystem', () => {
  neverRemovesWhatIsPublished(30, async () => {
    const folder = await mkdtempDisposable(join(tmpdir(), 'sweep-test-'));
    return { store: new FilesystemObjectStore(folder.path), [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
  });
});

describeWithMinio('on MinIO', {}, (startMinio) => {
  neverRemovesWhatIsPublished(10, async () => {
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

function neverRemovesWhatIsPublished(numRuns: number, open: () => Promise<AsyncDisposable & { store: ObjectStore }>) {
  let opened: AsyncDisposable & { store: ObjectStore };
  beforeAll(async () => {
    opened = await open();
    await opened.store.ready();
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  test('whatever is uploaded, removed and swept at once: what is published stays, what is not goes after a day', {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(anUpload, { minLength: 1, maxLength: 6 }),
        fc.array(aSweep, { minLength: 1, maxLength: 3 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 6 }),
        async (scheduler, uploads, sweeps, hours) => {
          await emptied(opened.store);
          const archive = new LivingArchive(opened.store, () => scheduler.schedule(Promise.resolve()));
          const sweeping = (async () => {
            for (const { dryRun, keysPerBatch } of sweeps) await archive.swept(dryRun, keysPerBatch);
          })();
          const running = [...uploads.map((upload) => archive.upload(upload)), archive.pass(hours), sweeping];
          await scheduler.waitFor(Promise.all(running));
          await archive.isWell();
        },
      ),
      { numRuns },
    );
  });
}

/** A store in which uploads, removals and sweeps run, and what is known of them. */
class LivingArchive {
  readonly #clock: TestClock;
  readonly #store: ObjectStore;
  readonly #calmStore: ObjectStore;
  readonly #turn: () => Promise<void>;
  readonly #published = new Set<string>();
  // When uploads that run were begun.
  readonly #running = new Map<string, number>();

  constructor(store: ObjectStore, turn: () => Promise<void>) {
    this.#clock = new TestClock(store);
    this.#calmStore = clockedStore(store, this.#clock);
    this.#store = clockedStore(store, this.#clock, turn);
    this.#turn = turn;
  }

  async upload({ end, fate, renditions }: Upload): Promise<void> {
    const store = this.#store;
    const mediaKey = newMediaKey();
    await this.#turn();
    await this.#clock.stands();
    this.#running.set(mediaKey, this.#clock.now().getTime());
    await store.put(mediaObjectKey(mediaKey), bytes());
    if (end === 'publish') {
      const record = recordOf(mediaKey);
      await store.putIfAbsent(recordKey(record.id), encodeStoredRecord(record));
      this.#published.add(mediaKey);
      this.#running.delete(mediaKey);
      for (let n = 0; n < renditions; n += 1) await store.put(rendition(mediaKey, n), bytes());
      await this.#takenDown(record, fate);
    }
    if (end === 'discard') await store.remove(mediaObjectKey(mediaKey));
    this.#running.delete(mediaKey);
  }

  /** Lets hours pass, as far as uploads that run may still do so. */
  async pass(hours: readonly number[]): Promise<void> {
    for (const asked of hours) {
      await this.#turn();
      const oldest = Math.min(...this.#running.values());
      const left = longestUploadHours - (this.#clock.now().getTime() - oldest) / 3_600_000;
      await this.#clock.pass(Math.max(0, Math.min(asked, left)));
    }
  }

  async swept(dryRun: boolean, keysPerBatch = 3, store = this.#store) {
    const { signal } = new AbortController();
    return (await sweep(store, { olderThanMs: dayMs, dryRun, force: true, keysPerBatch, signal })).report;
  }

  async isWell(): Promise<void> {
    const before = await keysIn(this.#calmStore);
    for (const mediaKey of this.#published) expect(before).toContain(mediaObjectKey(mediaKey));
    await this.#clock.pass(25);
    const dry = await this.swept(true, 3, this.#calmStore);
    expect(await keysIn(this.#calmStore)).toEqual(before);
    const swept = await this.swept(false, 3, this.#calmStore);
    const after = await keysIn(this.#calmStore);
    expect(after).toEqual(before.filter((key) => this.#published.has(key.split('/')[1] ?? '')));
    const { media, renditions } = dry.kinds;
    expect(media.found + renditions.found).toBe(before.length - after.length);
    expect([media.removed, renditions.removed]).toEqual([0, 0]);
    expect(swept.kinds.media).toEqual({ ...media, removed: media.found });
    expect(swept.kinds.renditions).toEqual({ ...renditions, removed: renditions.found });
  }

  async #takenDown(record: StoredRecord, fate: Upload['fate']): Promise<void> {
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

function recordOf(mediaKey: string): StoredRecord {
  return {
    ...{ id: newMediaId(), mediaKey, etag: 'any', size: 5, type: 'jpg', width: 3, height: 2, text: 'Lunch' },
    timestamp: new Date(),
    user: { id: 12345n, screenName: 'ada' },
    ...{ provider: 'https://id.example/verify', subject: '12345', application: 'test' },
  };
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

async function emptied(store: ObjectStore): Promise<void> {
  for (const prefix of [mediaPrefix, renditionsPrefix, 'records/'])
    for await (const { key } of listObjects(store, prefix)) await store.remove(key);
}
