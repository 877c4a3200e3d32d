import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobEnd } from '@echodrop/queue/job-outcome';
import { queueOptionsFor, queuePrefix, readyClient, testQueue } from '@echodrop/queue/queue.fixture';
import { jobVersion } from '@echodrop/queue/queue-connection';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { startProbeWorkers } from './probe.ts';
import { RenditionClient, startRenditionWorkers } from './rendition.ts';

// `kept` has jobs and replies of earlier releases, as in queues during an update. Its files never change.
const mediaKey = '00112233445566778899aabbccddeeff';

let redis: RunningRedis;
let connection: Redis;
let parts: AsyncDisposableStack;

beforeAll(async () => {
  redis = await startRedis();
  connection = new Redis(redis.url, { maxRetriesPerRequest: null });
});
afterAll(async () => {
  connection.disconnect();
  await redis[Symbol.asyncDispose]();
});
beforeEach(() => {
  parts = new AsyncDisposableStack();
});
afterEach(async () => {
  await parts.disposeAsync();
  await connection.flushall();
});

async function kept(name: string) {
  return JSON.parse(await readFile(join(import.meta.dirname, 'kept', name), 'utf8'));
}

/** Adds a recorded job. */
async function addRecorded(queue: string, job: object, jobId: string): Promise<void> {
  const adding = parts.adopt(new Queue(queue, { connection, prefix: queuePrefix }), (each) => each.close());
  await adding.add(queue, job, { jobId });
}

/** Adds a job without a seal, with a deadline in the future. */
function addUnsealed(queue: string, job: object, deadlineMs = patienceMs): Promise<void> {
  return addRecorded(queue, { ...job, deadline: Date.now() + deadlineMs }, randomUUID());
}

async function delayedIn(queue: string): Promise<number> {
  const looking = parts.adopt(new Queue(queue, { connection, prefix: queuePrefix }), (each) => each.close());
  return looking.getDelayedCount();
}

/** A worker that sends recorded replies, one after the other. */
function startRecordedWorker(queue: string, replies: unknown[]): void {
  const worker = new Worker(queue, async () => replies.shift(), { connection, prefix: queuePrefix });
  parts.adopt(worker, (each) => each.close(true));
}

test('probe jobs of version 2 are completed, those of version 1 delayed', async () => {
  const received: unknown[] = [];
  const ends: JobEnd[] = [];
  const serving = { photoConcurrency: 1, videoConcurrency: 1, graceSeconds: 0, onEnd: (end: JobEnd) => ends.push(end) };
  const probe = async (request: unknown) => {
    received.push(request);
    return { outcome: 'unsupported', why: 'too_costly' } as const;
  };
  for (const queue of startProbeWorkers({ ...serving, probe }, queueOptionsFor(redis.url))) parts.use(queue);
  for (const queue of ['probe-photos', 'probe-films']) await addUnsealed(queue, await kept('probe-job-1.json'));
  for (const { queue, jobId, data } of await kept('probe-jobs-2.json')) await addRecorded(queue, data, jobId);
  await waitUntil('both jobs to end', async () => ends.length === 2);
  expect(ends.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  const request = { mediaKey, size: 123456, head: Buffer.from('/9j/4AAQ', 'base64') };
  expect(received).toEqual([request, request]);
  for (const queue of ['probe-photos', 'probe-films']) {
    await waitUntil('the delayed job', async () => (await delayedIn(queue)) === 1);
  }
});

test('rendition jobs of version 2 are completed, those of version 1 delayed', async () => {
  const received: unknown[] = [];
  const ends: JobEnd[] = [];
  const serving = { pictureConcurrency: 1, videoConcurrency: 1, slowConcurrency: 1, graceSeconds: 0 };
  const render = async (request: unknown) => {
    received.push(request);
    return { outcome: 'made' } as const;
  };
  const onEnd = (end: JobEnd) => ends.push(end);
  for (const queue of startRenditionWorkers({ ...serving, render, onEnd }, queueOptionsFor(redis.url)))
    parts.use(queue);
  for (const queue of ['rendition-pictures', 'rendition-films'])
    await addUnsealed(queue, await kept('rendition-job-1.json'));
  for (const { queue, jobId, data } of await kept('rendition-jobs-2.json')) await addRecorded(queue, data, jobId);
  await waitUntil('both jobs to end', async () => ends.length === 2);
  expect(received).toEqual([1, 2].map(() => ({ mediaKey, type: 'mp4', set: 'film' })));
  for (const queue of ['rendition-pictures', 'rendition-films']) {
    await waitUntil('the delayed job', async () => (await delayedIn(queue)) === 1);
  }
});

test('replies of version 2 are understood', async () => {
  const replies: { jobId: string; returned: { answer: string } }[] = await kept('replies-2.json');
  // The recorded seals name this queue.
  await using queue = testQueue(redis.url, { name: 'kept-answers' });
  const client = await readyClient(queue);
  startRecordedWorker(
    queue.name,
    replies.map(({ returned }) => returned),
  );
  for (const { jobId, returned } of replies) {
    expect(await client.request('any', { deadlineMs: patienceMs, jobId })).toEqual(returned.answer);
  }
  expect(queue.forged).toEqual([]);
});

test('a job of a later version is delayed for a worker of its release, and others are completed meanwhile', async () => {
  await using queue = testQueue(redis.url);
  const later = { version: jobVersion + 1, question: { words: ['not', 'a', 'text'] } };
  const { ends } = queue.worker({ concurrency: 1 });
  // It is delayed for a twentieth of this time.
  await addUnsealed(queue.name, later, 20_000);
  const ours = await readyClient(queue);
  expect(await ours.request('ours', { deadlineMs: patienceMs })).toBe('OURS');
  await waitUntil('the job of this release to end', async () => ends.length === 1);
  const taken: unknown[] = [];
  const worker = new Worker(queue.name, async ({ data }) => taken.push(data.question), {
    connection,
    prefix: queuePrefix,
  });
  parts.adopt(worker, (each) => each.close(true));
  await waitUntil('the delayed job', async () => taken.length === 1);
  expect(taken).toEqual([later.question]);
  expect(ends.map(({ outcome }) => outcome)).toEqual(['completed']);
});

test('renditions requested by a later release are also made for this one, in a separate job', async () => {
  const client = parts.use(new RenditionClient(queueOptionsFor(redis.url)));
  const request = { mediaKey, type: 'mp4', set: 'film' } as const;
  await waitUntil('a connection', () => client.enqueue(request).then(() => true));
  const queue = parts.adopt(new Queue('rendition-films', { connection, prefix: queuePrefix }), (each) => each.close());
  const [ours] = await queue.getPrioritized();
  const jobId = ours?.id?.replace(`-v${jobVersion}-`, `-v${jobVersion + 1}-`) ?? '';
  await ours?.remove();
  const data = { version: jobVersion + 1, deadline: Date.now() + 60_000, question: {} };
  await queue.add('rendition-films', data, { jobId });

  const serving = { pictureConcurrency: 1, videoConcurrency: 1, slowConcurrency: 1, graceSeconds: 0, onEnd: () => {} };
  const render = async () => ({ outcome: 'made' }) as const;
  for (const each of startRenditionWorkers({ ...serving, render }, queueOptionsFor(redis.url))) parts.use(each);
  await waitUntil('the delayed job', async () => (await queue.getDelayedCount()) === 1);
  await waitUntil('the backlog', async () => {
    const backlog = (await client.backlogs()).get('rendition-films');
    return backlog?.unsupported === 1 && backlog.waiting === 0 && backlog.oldestMs === 0;
  });
  const waiting = { waitMs: patienceMs, signal: patientSignal() };
  expect(await client.make(request, waiting)).toEqual({ outcome: 'made' });
});

test('without such a worker, a job of a later version ends as late', async () => {
  await using queue = testQueue(redis.url);
  const { ends } = queue.worker();
  await addUnsealed(queue.name, { version: jobVersion + 1, question: {} }, 800);
  await waitUntil('the job to end', async () => ends.length === 1);
  expect(ends[0]?.outcome).toBe('late');
});
