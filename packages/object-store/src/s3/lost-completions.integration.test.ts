import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describeWithMinioProgram } from '@echodrop/testkit/servers/describe-with-minio';
import { type RunningMinio, startEncryptedMinio, startMinio } from '@echodrop/testkit/servers/start-minio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHabitProxy } from '../habit-proxy.fixture.ts';
import type { Fault, Habit } from '../habits.fixture.ts';
import { mediaObjectKey, newMediaKey } from '../object-keys.ts';
import type { ObjectStore } from '../object-store.ts';
import { partBytes } from '../part-size.ts';
import { bytesAt } from '../sources.fixture.ts';
import { newStagedWrite } from '../staged-write.ts';
import { appendAll } from './append-all.fixture.ts';
import { minioStore, patientDeadlines } from './minio-store.fixture.ts';

const startPlain = (path: string) => startMinio({ kind: 'program', path });
const lost = 'loses the first response of each completion';
const stores: [string, (path: string) => Promise<RunningMinio>, Fault, readonly Habit[]][] = [
  ['is lost, an upload to MinIO', startPlain, lost, []],
  ['is lost, an upload to an encrypted MinIO', startEncryptedMinio, lost, []],
  [
    'is lost, an upload to an encrypted store that ignores conditions',
    startEncryptedMinio,
    lost,
    ['ignores conditions'],
  ],
  ['is lost, an upload to a store that changes tags', startPlain, lost, ['changes tags']],
  ['is an error after status 200, an upload', startPlain, 'fails after status 200 of each first completion', []],
  ['is cut off, an upload', startPlain, 'cuts off the first response of each completion', []],
];

describeWithMinioProgram('if the response to a completion', (path) => {
  describe.each(stores)('%s', (_, start, fault, has) => {
    const opened = new AsyncDisposableStack();
    let store: ObjectStore;
    beforeAll(async () => {
      const minio = opened.use(await start(path));
      const hasNow: (Habit | Fault)[] = [...has];
      const proxy = opened.use(await startHabitProxy(minio, hasNow));
      store = opened.use(minioStore({ ...minio, endpoint: proxy.endpoint }, { isStrict: true }));
      await store.ready();
      hasNow.push(fault);
    });
    afterAll(() => opened.disposeAsync());

    test.each([2 * partBytes, 2 * partBytes + 1])('is stored in one request: %i bytes', async (size) => {
      const key = mediaObjectKey(newMediaKey());
      const bytes = randomBytes(size);
      const { etag } = await store.put(key, Readable.from([bytes]));
      expect((await bytesAt(store, key))?.equals(bytes)).toBe(true);
      expect(await store.stat(key)).toEqual({ key, size, etag });
    });

    test.each([2 * partBytes, 2 * partBytes + 1])('is stored in pieces: %i bytes', async (size) => {
      const bytes = randomBytes(size);
      const write = await appendAll(store, [bytes.subarray(0, 1000), bytes.subarray(1000)]);
      // The first call loses its response; the second is that of a client that continues.
      const { key, etag } = await store.completeWrite(write);
      expect(await store.completeWrite(write)).toMatchObject({ key, size, etag });
      expect((await bytesAt(store, key))?.equals(bytes)).toBe(true);
      expect(await store.stat(key)).toEqual({ key, size, etag });
    });
  });

  test('does not come, the upload fails once the time for joining parts is over, whatever a write may take', async () => {
    await using minio = await startMinio({ kind: 'program', path });
    await using proxy = await startHabitProxy(minio, ['does not answer completions']);
    const deadlines = { ...patientDeadlines, joinMs: 200 };
    await using store = minioStore({ ...minio, endpoint: proxy.endpoint }, { deadlines });
    await store.ready();
    const put = store.put(mediaObjectKey(newMediaKey()), Readable.from([randomBytes(partBytes + 1)]));
    await expect(put).rejects.toThrow(/no complete response within \d+ ms/);
  });

  test('says that the parts are lost, the write is lost', async () => {
    await using minio = await startMinio({ kind: 'program', path });
    await using store = minioStore(minio, { isStrict: true });
    await store.ready();
    const write = await appendAll(
      store,
      [randomBytes(2 * partBytes + 1)],
      newStagedWrite(mediaObjectKey(newMediaKey()), 'video/mp4'),
    );
    await store.discardWrite({ ...write, tails: [] });
    await expect(store.completeWrite(write)).rejects.toThrow('no longer has the parts');
  });
});
