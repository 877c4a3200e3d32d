import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { inChunks } from '../object-store.contract.ts';
import { StoreUnavailable } from '../object-store.ts';
import { PartMemory, partBytes } from '../part-memory.ts';
import type { MinioObjectStore } from './minio-object-store.ts';
import { minioStore } from './minio-store.fixture.ts';

const deadlines = { callMs: 500, partMs: 700, idleMs: 500 };
// One deadline for what failed, one for the attempt to clean up, and something for a busy machine.
const soon = 3000;

describeWithMinio('when MinIO fails', { stoppable: true }, (start) => {
  let minio: RunningMinio;
  let store: MinioObjectStore;
  const memory = new PartMemory(2 * partBytes);

  beforeAll(async () => {
    minio = await start();
    await using patient = minioStore(minio);
    await patient.ready();
    await patient.put('media/large', inChunks(randomBytes(4 * partBytes), 65_536));
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
    ['a large put', () => store.put('media/larger', inChunks(Buffer.alloc(2 * partBytes), 65_536))],
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

  // What hung has its work of then still to do, and may be slower for a moment than these deadlines.
  const worksSoon = (call: () => Promise<unknown>) => waitUntil('an answer', soon, () => call().then(() => true));

  test.each(calls)('%s says StoreUnavailable in time while it hangs, and works when it goes on', async (_, call) => {
    await minio.server?.freeze();
    await failsSoon(call);
    await minio.server?.thaw();
    await worksSoon(call);
  });

  test('every call says StoreUnavailable while it is down, and works as soon as it is back', async () => {
    await store.read('media/large').then((reading) => reading?.body.destroy());
    await minio.server?.kill();
    for (const [, call] of calls) await failsSoon(call);
    await minio.server?.restart();
    for (const [, call] of calls) await worksSoon(call);
  });

  test('an upload in the middle of its parts ends in time, and reads no more of its source', async () => {
    const source = inChunks(Buffer.alloc(5 * partBytes), 65_536);
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

  test('a reader that waits for bytes learns it, whether the store hangs or dies', async () => {
    for (const stop of ['freeze', 'kill'] as const) {
      const reading = (await store.read('media/large')) ?? expect.fail('nothing to read');
      await minio.server?.[stop]();
      await failsSoon(() => buffer(reading.body));
      await minio.server?.[stop === 'freeze' ? 'thaw' : 'restart']();
      await worksSoon(() => store.ready());
    }
  });

  test('a reader that pauses for longer than the deadline is not the fault of the store', async () => {
    const reading = (await store.read('media/large')) ?? expect.fail('nothing to read');
    await new Promise((resolve) => setTimeout(resolve, 3 * deadlines.idleMs));
    expect((await buffer(reading.body)).length).toBe(4 * partBytes);
  });

  test('a body that nobody has begun to read fails with the store, and does not end the process', async () => {
    const closing = minioStore(minio, { deadlines });
    const reading = (await closing.read('media/large')) ?? expect.fail('nothing to read');
    await closing[Symbol.asyncDispose]();
    await expect.poll(() => reading.body.destroyed).toBe(true);
    await expect(buffer(reading.body)).rejects.toThrow(StoreUnavailable);
  });

  test('wrong keys are StoreUnavailable, and the message holds no credential and no address', async () => {
    await using stranger = minioStore({ ...minio, secretKey: 'not-the-secret' });
    const refused = await stranger.put('media/x', Readable.from([Buffer.alloc(9)])).catch((error) => error);
    expect(refused).toBeInstanceOf(StoreUnavailable);
    expect(refused.message).toBe('the store answered 403 SignatureDoesNotMatch');
    await expect(stranger.stat('media/x')).rejects.toThrow(StoreUnavailable);
  });

  test('a bucket that is missing is a fault, not an absent object', async () => {
    await using elsewhere = minioStore({ ...minio, bucket: 'nobody-made-this' });
    await expect(elsewhere.read('media/x')).rejects.toThrow('NoSuchBucket');
    await expect(elsewhere.put('media/x', Readable.from([]))).rejects.toThrow('NoSuchBucket');
  });
});
