import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ProbeClient, startProbeWorkers } from './probe.ts';

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let client: ProbeClient;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  client = parts.use(new ProbeClient(queueOptionsFor(redis.url)));
  await waitUntil('a connection', 5000, () => client.ready().then(() => true));
});
afterEach(() => parts.disposeAsync());

/** A worker whose jobs all fail with `message`. Returns the media keys of ended jobs. */
function failingWorker(message: string): (string | undefined)[] {
  const ended: (string | undefined)[] = [];
  const serving = { photoConcurrency: 1, videoConcurrency: 1, graceSeconds: 0 };
  const fail = () => Promise.reject(new Error(message));
  const onEnd = (_: unknown, request?: { mediaKey: string }) => ended.push(request?.mediaKey);
  for (const queue of startProbeWorkers({ ...serving, probe: fail, onEnd }, queueOptionsFor(redis.url)))
    parts.use(queue);
  return ended;
}

function probe(mediaKey: string, type: 'jpg' | 'flv') {
  const request = { mediaKey, size: 3, head: Buffer.from('any') };
  return client.probe(request, type, { deadlineMs: 8000, signal: AbortSignal.timeout(9000) });
}

test.each(['jpg', 'flv'] as const)('a %s that killed two workers is too costly', async (type) => {
  const ended = failingWorker('job stalled more than allowable limit');
  expect(await probe('deadly', type)).toEqual({ outcome: 'unsupported', why: 'too_costly' });
  await waitUntil('the end of the job', 2000, async () => ended.includes('deadly'));
});

test('a failed job is QueueUnavailable', async () => {
  failingWorker('the store is down');
  await expect(probe('unlucky', 'jpg')).rejects.toThrow(QueueUnavailable);
});
