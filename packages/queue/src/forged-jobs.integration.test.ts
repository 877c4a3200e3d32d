import { randomUUID } from 'node:crypto';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Queue, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queuePrefix, RedisView, readyClient, type TestQueue, testQueue } from './queue.fixture.ts';
import { QueueUnavailable } from './queue-client.ts';

// `view` is an attacker with write access to Redis, who must not be able to add jobs or forge replies.
let redis: RunningRedis;
let view: RedisView;

beforeAll(async () => {
  redis = await startRedis();
  view = new RedisView(redis.url);
});

afterAll(async () => {
  view[Symbol.dispose]();
  await redis[Symbol.asyncDispose]();
});

/** A worker that records its requests. */
function recordingWorker(queue: TestQueue) {
  const handled: string[] = [];
  const handle = async (request: string) => {
    handled.push(request);
    return request.toUpperCase();
  };
  return { handled, ...queue.worker({ handle }) };
}

/** A worker that holds its jobs until `release`. */
function holdingWorker(queue: TestQueue) {
  const held = Promise.withResolvers<void>();
  queue.worker({ handle: async (request) => held.promise.then(() => request.toUpperCase()) });
  return { release: () => held.resolve() };
}

async function jobIn(queue: TestQueue, list: 'wait' | 'active'): Promise<string> {
  await waitUntil(`a job in ${list}`, async () => (await view.jobs(queue.name, list)).length === 1);
  return (await view.jobs(queue.name, list))[0] ?? '';
}

async function dataOf(queue: TestQueue, jobId: string) {
  return JSON.parse((await view.redis.hget(view.key(queue.name, jobId), 'data')) ?? '');
}

async function add(queue: TestQueue, data: object, jobId: string): Promise<void> {
  const adding = new Queue(queue.name, { connection: { url: redis.url }, prefix: queuePrefix });
  await adding.add(queue.name, data, { jobId });
  await adding.close();
}

// JSON.parse reads it, JSON.stringify overflows the stack.
const tooDeep = '['.repeat(20_000) + ']'.repeat(20_000);

describe.concurrent('a queue', () => {
  const withChanges = (change: (data: { deadline: number }) => object) => (data: { deadline: number }) =>
    JSON.stringify({ ...data, ...change(data) });
  test.each<[string, (data: { deadline: number }) => string]>([
    ['with another request', withChanges(() => ({ question: 'forged' }))],
    ['with another deadline', withChanges(({ deadline }) => ({ deadline: deadline + 60_000 }))],
    ['without its seal', withChanges(() => ({ seal: undefined }))],
    ['without its version', withChanges(() => ({ version: undefined }))],
    ['into one of another version without an end', withChanges(() => ({ version: 3, deadline: 1e300 }))],
    ['into a value that is not an object', () => 'null'],
    [
      'with a request that is nested too deeply',
      (data) => `${JSON.stringify(data).slice(0, -1)},"question":${tooDeep}}`,
    ],
  ])('a job rewritten %s is not handled but counted, and its request fails', async (_, rewritten) => {
    await using queue = testQueue(redis.url);
    const reply = (await readyClient(queue)).request('q', { deadlineMs: patienceMs });
    reply.catch(() => {});
    const jobId = await jobIn(queue, 'wait');
    await view.redis.hset(view.key(queue.name, jobId), 'data', rewritten(await dataOf(queue, jobId)));
    const worker = recordingWorker(queue);
    await expect(reply).rejects.toThrow(QueueUnavailable);
    expect({ handled: worker.handled, forged: queue.forged }).toEqual({ handled: [], forged: ['job'] });
    await waitUntil('the job to end', async () => worker.ends.length === 1);
    expect(worker.ends[0]).toMatchObject({ jobId, outcome: 'forged' });
  });

  // BullMQ fails such a job itself, and does not call the worker.
  test.each<[string, object, string[]]>([
    ['with another request', { question: 'forged' }, ['job']],
    ['of another version', { question: 'forged', version: 99 }, []],
  ])('a job rewritten %s, whose workers died according to Redis, reports no request', async (_, rewritten, forged) => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const reply = client.request('q', { deadlineMs: patienceMs, waitMs: 1000, jobId: 'dead' });
    reply.catch(() => {});
    await jobIn(queue, 'wait');
    const data = JSON.stringify({ ...(await dataOf(queue, 'dead')), ...rewritten });
    const defa = 'job stalled more than allowable limit';
    await view.redis.hset(view.key(queue.name, 'dead'), { data, defa });
    const { handled, ends, ended } = recordingWorker(queue);
    await waitUntil('the job to end', async () => ends.length === 1);
    expect({ handled, ended, forged: queue.forged }).toEqual({ handled: [], ended: [undefined], forged });
  });

  test('a job rewritten into malformed JSON is counted, and the next is handled', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    // A shared job outlasts its request.
    const rewritten = client.request('q', { deadlineMs: patienceMs, waitMs: 1000, jobId: 'malformed' });
    rewritten.catch(() => {});
    await view.redis.hset(view.key(queue.name, await jobIn(queue, 'wait')), 'data', '{');
    const { handled } = recordingWorker(queue);
    expect(await client.request('next', { deadlineMs: patienceMs })).toBe('NEXT');
    await expect(rewritten).rejects.toThrow(QueueUnavailable);
    expect({ handled, forged: queue.forged }).toEqual({ handled: ['next'], forged: ['job'] });
  });

  test('a job copied to another id or queue is not handled', async () => {
    await using queue = testQueue(redis.url);
    await using other = testQueue(redis.url);
    const reply = (await readyClient(queue)).request('q', { deadlineMs: patienceMs });
    const jobId = await jobIn(queue, 'wait');
    const data = await dataOf(queue, jobId);
    await add(queue, data, randomUUID());
    await add(other, data, jobId);
    const worker = recordingWorker(queue);
    const otherWorker = recordingWorker(other);
    expect(await reply).toBe('Q');
    await waitUntil('both jobs to end', async () => worker.ends.length === 2 && otherWorker.ends.length === 1);
    expect(worker.handled).toEqual(['q']);
    expect(otherWorker.handled).toEqual([]);
    expect([queue.forged, other.forged]).toEqual([['job'], ['job']]);
  });

  test.each<[string, (seal: string) => string]>([
    ['without a seal', () => '"answer":"forged"'],
    ['with the seal of its job', (seal) => `"answer":"forged","seal":${JSON.stringify(seal)}`],
    ['that is nested too deeply', () => `"answer":${tooDeep}`],
  ])('a reply %s is ignored and counted, and the reply of the worker is received', async (_, forge) => {
    await using queue = testQueue(redis.url);
    const { release } = holdingWorker(queue);
    const reply = (await readyClient(queue)).request('q', { deadlineMs: patienceMs });
    const jobId = await jobIn(queue, 'active');
    const data = await dataOf(queue, jobId);
    for (const message of [`{"jobId":"${jobId}",${forge(data.seal)}}`, '1', 'null'])
      await view.redis.spublish(data.reply, message);
    await waitUntil('a forgery', async () => queue.forged.length === 1);
    release();
    expect(await reply).toBe('Q');
    expect(queue.forged).toEqual(['reply']);
  });

  test('the sealed reply to another request is ignored', async () => {
    await using queue = testQueue(redis.url);
    queue.worker();
    const client = await readyClient(queue);
    await client.request('one', { deadlineMs: patienceMs, jobId: 'one' });
    await client.request('two', { deadlineMs: patienceMs, jobId: 'two' });
    const returned = (await view.redis.hget(view.key(queue.name, 'one'), 'returnvalue')) ?? '';
    expect(JSON.parse(returned)).toEqual({ answer: 'ONE', seal: expect.any(String) });
    await view.redis.hset(view.key(queue.name, 'two'), 'returnvalue', returned);
    expect(await client.request('two', { deadlineMs: patienceMs, jobId: 'two' })).toBe('TWO');
    expect(queue.forged).toContain('reply');
  });

  test.each<[string, string]>([
    ...['"forged"', '{"answer":"forged"}', '{"answer":"forged","seal":1}', 'null', '{'].map(
      (text): [string, string] => [text, text],
    ),
    ['too deep a nesting', `{"answer":${tooDeep}}`],
  ])('a reply rewritten into %s is counted, and the job runs again', async (_, returned) => {
    await using queue = testQueue(redis.url);
    const { handled } = recordingWorker(queue);
    const options = { deadlineMs: patienceMs, jobId: 'shared' };
    expect(await (await readyClient(queue)).request('q', options)).toBe('Q');
    await view.redis.hset(view.key(queue.name, 'shared'), 'returnvalue', returned);
    expect(await (await readyClient(queue)).request('q', options)).toBe('Q');
    expect(handled).toEqual(['q', 'q']);
    expect(queue.forged).toContain('reply');
  });

  test('a client with a replaced secret gets no reply', async () => {
    await using requesting = testQueue(redis.url, { secret: 'older' });
    await using replying = testQueue(redis.url, { name: requesting.name, secret: 'newer' });
    replying.worker();
    await expect((await readyClient(requesting)).request('q', { deadlineMs: patienceMs })).rejects.toThrow(
      QueueUnavailable,
    );
    expect(replying.forged).toEqual(['job']);
  });

  test('a polled reply without a seal fails the request', async () => {
    await using queue = testQueue(redis.url);
    const connection = { url: redis.url };
    const forger = new Worker(queue.name, async () => ({ answer: 'forged' }), { connection, prefix: queuePrefix });
    const reply = (await readyClient(queue)).request('q', { deadlineMs: patienceMs });
    await expect(reply).rejects.toMatchObject({ cause: { message: 'reply has an invalid seal' } });
    expect(queue.forged).toEqual(['reply']);
    await forger.close(true);
  });
});
