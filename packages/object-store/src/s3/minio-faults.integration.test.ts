import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ObjectStore, StoreUnavailable } from '../object-store.ts';
import { PartMemory } from '../part-memory.ts';
import { partBytes } from '../part-size.ts';
import { inChunks } from '../sources.fixture.ts';
import { minioStore, patientDeadlines } from './minio-store.fixture.ts';

// In force while MinIO hangs or is down. Before and after, a busy machine may take longer.
const short = { ...patientDeadlines, callMs: 500, writeMs: 700, idleMs: 500 };
// One deadline for the failed request, one for the cleanup, and a margin for a busy machine. The patient deadlines are far longer.
const soon = 15_000;

describeWithMinio('when MinIO fails', { stoppable: true }, (start) => {
  let minio: RunningMinio;
  let store: ObjectStore;
  const memory = new PartMemory(2 * partBytes);
  // The store reads them for each request.
  const deadlines = { ...patientDeadlines };
  const hurry = () => Object.assign(deadlines, short);
  const relax = () => Object.assign(deadlines, patientDeadlines);

  beforeAll(async () => {
    minio = await start();
    await using patient = minioStore(minio);
    await patient.ready();
    await patient.put('media/large', inChunks(randomBytes(4 * partBytes)));
  });

  beforeEach(async () => {
    relax();
    store = minioStore(minio, { memory, deadlines });
    await works(() => store.ready());
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
    hurry();
    const begin = performance.now();
    await expect(call()).rejects.toThrow(StoreUnavailable);
    expect(performance.now() - begin).toBeLessThan(soon);
  }

  // After a freeze, MinIO first completes old requests.
  async function works(call: () => Promise<unknown>): Promise<void> {
    relax();
    await waitUntil('a response', () => call().then(() => true));
  }

  test.each(calls)('%s throws StoreUnavailable in time while MinIO hangs, and works afterwards', async (_, call) => {
    await minio.server?.freeze();
    await failsSoon(call);
    await minio.server?.thaw();
    await works(call);
  });

  test('every call throws StoreUnavailable while MinIO is down, and works as soon as it restarts', async () => {
    await store.read('media/large').then((reading) => reading?.body.destroy());
    await minio.server?.kill();
    for (const [, call] of calls) await failsSoon(call);
    await minio.server?.restart();
    for (const [, call] of calls) await works(call);
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
    await works(async () => expect(await store.stat('media/cut')).toBeUndefined());
  });

  test('a waiting reader gets an error if MinIO hangs or dies', async () => {
    for (const stop of ['freeze', 'kill'] as const) {
      // A read keeps the deadline of its start.
      deadlines.idleMs = short.idleMs;
      const reading = (await store.read('media/large')) ?? expect.fail('nothing to read');
      await minio.server?.[stop]();
      await failsSoon(() => buffer(reading.body));
      await minio.server?.[stop === 'freeze' ? 'thaw' : 'restart']();
      await works(() => store.ready());
    }
  });

  test('a reader may pause for longer than the deadline', async () => {
    // More than the process takes before it pauses. The rest waits in the sockets, so that the end needs no fast MinIO.
    const bytes = 400_000;
    await store.put('media/paused', inChunks(randomBytes(bytes)));
    deadlines.idleMs = short.idleMs;
    const reading = (await store.read('media/paused')) ?? expect.fail('nothing to read');
    await new Promise((resolve) => setTimeout(resolve, 3 * short.idleMs));
    expect((await buffer(reading.body)).length).toBe(bytes);
  });

  test('an unread body fails with the store without ending the process', async () => {
    const closing = minioStore(minio);
    const reading = (await closing.read('media/large')) ?? expect.fail('nothing to read');
    await closing[Symbol.asyncDispose]();
    await expect.poll(() => reading.body.destroyed).toBe(true);
    await expect(buffer(reading.body)).rejects.toThrow(StoreUnavailable);
  });

  test('wrong keys are StoreUnavailable, without credentials or addresses in the message', async () => {
    await using stranger = minioStore({ ...minio, secretKey: 'not-the-secret' });
    const refused = await stranger.put('media/x', Readable.from([Buffer.alloc(9)])).catch((error) => error);
    expect(refused).toBeInstanceOf(StoreUnavailable);
    expect(refused.message).toBe(
      'object store responded with 403 SignatureDoesNotMatch: check S3_SECRET_KEY, or a proxy that changes Host',
    );
    await expect(stranger.ready()).rejects.toThrow(refused.message);
    await expect(stranger.stat('media/x')).rejects.toThrow(StoreUnavailable);
  });

  test('a missing bucket is an error, not a missing object', async () => {
    await using elsewhere = minioStore({ ...minio, bucket: 'missing-bucket' });
    await expect(elsewhere.read('media/x')).rejects.toThrow('NoSuchBucket');
    await expect(elsewhere.put('media/x', Readable.from([]))).rejects.toThrow('NoSuchBucket');
  });
});
