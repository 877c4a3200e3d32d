import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ObjectStore, StoreUnavailable } from '../object-store.ts';
import { PartMemory, partBytes } from '../part-memory.ts';
import { inChunks } from '../sources.fixture.ts';
import { minioStore } from './minio-store.fixture.ts';

const deadlines = { callMs: 500, writeMs: 700, idleMs: 500 };
// One deadline for the failed request, one for the cleanup, and a margin for a busy machine.
const soon = 3000;

describeWithMinio('when MinIO fails', { stoppable: true }, (start) => {
  let minio: RunningMinio;
  let store: ObjectStore;
  const memory = new PartMemory(2 * partBytes);

  beforeAll(async () => {
    minio = await start();
    await using patient = minioStore(minio);
    await patient.ready();
    await patient.put('media/large', inChunks(randomBytes(4 * partBytes)));
  });

  beforeEach(async () => {
    store = minioStore(minio, { memory, deadlines });
    await worksSoon(() => store.ready());
  });

  afterEach(async () => {
    await store[Symbol.asyncDispose]();
    expect([memory.heldBytes, memory.waiting]).toEqual([0, 0]);
  });

  afterAll(async () => {
    await minio?.[Symbol.asyncDispose]();
  });

  const calls: [string, () => Promise<unknown>][] = [
    ['a small put', () => store.put('media/small', Readable.from([Buffer.alloc(1000)]))],
    ['a large put', () => store.put('media/larger', inChunks(Buffer.alloc(2 * partBytes)))],
    ['putIfAbsent', () => store.putIfAbsent('records/a.json', Buffer.from('{}'))],
    ['read', async () => (await store.read('media/large'))?.body.destroy()],
    ['stat', () => store.stat('media/large')],
    ['remove', () => store.remove('media/none')],
    ['ready', () => store.ready()],
  ];

  async function failsSoon(call: () => Promise<unknown>): Promise<void> {
    const begin = performance.now();
    await expect(call()).rejects.toThrow(StoreUnavailable);
    expect(performance.now() - begin).toBeLessThan(soon);
  }

  // After a freeze, MinIO first completes old requests, and may briefly exceed these deadlines.
  const worksSoon = (call: () => Promise<unknown>) => waitUntil('a response', () => call().then(() => true), soon);

  test.each(calls)('%s throws StoreUnavailable in time while MinIO hangs, and works afterwards', async (_, call) => {
    await minio.server?.freeze();
    await failsSoon(call);
    await minio.server?.thaw();
    await worksSoon(call);
  });

  test('every call throws StoreUnavailable while MinIO is down, and works as soon as it restarts', async () => {
    await store.read('media/large').then((reading) => reading?.body.destroy());
    await minio.server?.kill();
    for (const [, call] of calls) await failsSoon(call);
    await minio.server?.restart();
    for (const [, call] of calls) await worksSoon(call);
  });

  test('a multipart upload fails in time and stops reading its source', async () => {
    const source = inChunks(Buffer.alloc(5 * partBytes));
    let read = 0;
    source.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read === 2 * partBytes) void minio.server?.freeze();
    });
    source.pause();
    await failsSoon(() => store.put('media/cut', source));
    expect(source.destroyed).toBe(true);
    expect(read).toBeLessThan(4 * partBytes);
    await minio.server?.thaw();
    await worksSoon(async () => expect(await store.stat('media/cut')).toBeUndefined());
  });

  test('a waiting reader gets an error if MinIO hangs or dies', async () => {
    for (const stop of ['freeze', 'kill'] as const) {
      const reading = (await store.read('media/large')) ?? expect.fail('nothing to read');
      await minio.server?.[stop]();
      await failsSoon(() => buffer(reading.body));
      await minio.server?.[stop === 'freeze' ? 'thaw' : 'restart']();
      await worksSoon(() => store.ready());
    }
  });

  test('a reader may pause for longer than the deadline', async () => {
    const reading = (await store.read('media/large')) ?? expect.fail('nothing to read');
    await new Promise((resolve) => setTimeout(resolve, 3 * deadlines.idleMs));
    expect((await buffer(reading.body)).length).toBe(4 * partBytes);
  });

  test('an unread body fails with the store without ending the process', async () => {
    const closing = minioStore(minio, { deadlines });
    const reading = (await closing.read('media/large')) ?? expect.fail('nothing to read');
    await closing[Symbol.asyncDispose]();
    await expect.poll(() => reading.body.destroyed).toBe(true);
    await expect(buffer(reading.body)).rejects.toThrow(StoreUnavailable);
  });

  test('wrong keys are StoreUnavailable, without credentials or addresses in the message', async () => {
    await using stranger = minioStore({ ...minio, secretKey: 'not-the-secret' });
    const refused = await stranger.put('media/x', Readable.from([Buffer.alloc(9)])).catch((error) => error);
    expect(refused).toBeInstanceOf(StoreUnavailable);
    expect(refused.message).toBe('object store responded with 403 SignatureDoesNotMatch');
    await expect(stranger.stat('media/x')).rejects.toThrow(StoreUnavailable);
  });

  test('a missing bucket is an error, not a missing object', async () => {
    await using elsewhere = minioStore({ ...minio, bucket: 'missing-bucket' });
    await expect(elsewhere.read('media/x')).rejects.toThrow('NoSuchBucket');
    await expect(elsewhere.put('media/x', Readable.from([]))).rejects.toThrow('NoSuchBucket');
  });
});
