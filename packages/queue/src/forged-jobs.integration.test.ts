import { randomUUID } from 'node:crypto';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Queue, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RedisView, readyClient, type TestQueue, testQueue } from './queue.fixture.ts';
import { QueueUnavailable } from './queue-client.ts';
import { queuePrefix } from './queue-connection.ts';

// `view` is an attacker with write access to Redis, who can neither add jobs nor forge replies.
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
  const asked: string[] = [];
  const handle = async (request: string) => {
    asked.push(request);
    return request.toUpperCase();
  };
  return { asked, ...queue.worker({ handle }) };
}

/** A worker that holds its jobs until `release`. */
function holdingWorker(queue: TestQueue) {
  const held = Promise.withResolvers<void>();
  queue.worker({ handle: async (request) => held.promise.then(() => request.toUpperCase()) });
  return { release: () => held.resolve() };
}

async function waitingJob(queue: TestQueue): Promise<string> {
  await waitUntil('a waiting job', 5000, async () => (await view.jobs(queue.name, 'wait')).length === 1);
  return (await view.jobs(queue.name, 'wait'))[0] ?? '';
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
  test.each<[string, (data: { deadline: number }) => unknown]>([
    ['with another request', (data) => ({ ...data, question: 'forged' })],
    ['with another deadline', (data) => ({ ...data, deadline: data.deadline + 60_000 })],
    ['without its seal', (data) => ({ ...data, seal: undefined })],
    ['without its version', (data) => ({ ...data, version: undefined })],
    ['into one of another version that never ends', (data) => ({ ...data, version: 3, deadline: 1e300 })],
    ['into no object', () => null],
  ])('a job rewritten %s is not handled but counted, and its request fails', async (_, rewritten) => {
    await using queue = testQueue(redis.url);
    const asked = (await readyClient(queue)).request('q', { deadlineMs: 20_000 });
    asked.catch(() => {});
    const jobId = await waitingJob(queue);
    const data = JSON.stringify(rewritten(await dataOf(queue, jobId)));
    await view.redis.hset(view.key(queue.name, jobId), 'data', data);
    const worker = recordingWorker(queue);
    await expect(asked).rejects.toThrow(QueueUnavailable);
    expect({ asked: worker.asked, forged: queue.forged }).toEqual({ asked: [], forged: ['job'] });
    await waitUntil('its end', 2000, async () => worker.ends.length === 1);
    expect(worker.ends[0]).toMatchObject({ jobId, outcome: 'forged' });
  });

  test('a job rewritten into malformed JSON is counted, and the next is handled', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const rewritten = client.request('q', { deadlineMs: 3000 });
    rewritten.catch(() => {});
    await view.redis.hset(view.key(queue.name, await waitingJob(queue)), 'data', '{');
    const { asked } = recordingWorker(queue);
    expect(await client.request('next', { deadlineMs: 5000 })).toBe('NEXT');
    await expect(rewritten).rejects.toThrow(QueueUnavailable);
    expect({ asked, forged: queue.forged }).toEqual({ asked: ['next'], forged: ['job'] });
  });

  test('a job whose request is nested too deeply to serialize is counted, and fails', async () => {
    await using queue = testQueue(redis.url);
    const asked = (await readyClient(queue)).request('q', { deadlineMs: 20_000 });
    asked.catch(() => {});
    const jobId = await waitingJob(queue);
    const { question: _, ...data } = await dataOf(queue, jobId);
    const text = `${JSON.stringify(data).slice(0, -1)},"question":${tooDeep}}`;
    await view.redis.hset(view.key(queue.name, jobId), 'data', text);
    const worker = recordingWorker(queue);
    await expect(asked).rejects.toThrow(QueueUnavailable);
    expect({ asked: worker.asked, forged: queue.forged }).toEqual({ asked: [], forged: ['job'] });
  });

  test('a job copied to another id or queue is not handled', async () => {
    await using queue = testQueue(redis.url);
    await using other = testQueue(redis.url);
    const asked = (await readyClient(queue)).request('q', { deadlineMs: 20_000 });
    const jobId = await waitingJob(queue);
    const data = await dataOf(queue, jobId);
    await add(queue, data, randomUUID());
    await add(other, data, jobId);
    const [worker, otherWorker] = [recordingWorker(queue), recordingWorker(other)];
    expect(await asked).toBe('Q');
    await waitUntil('both ends', 5000, async () => worker.ends.length === 2 && otherWorker.ends.length === 1);
    expect(worker.asked).toEqual(['q']);
    expect(otherWorker.asked).toEqual([]);
    expect([queue.forged, other.forged]).toEqual([['job'], ['job']]);
  });

  test.each<[string, (seal: string) => object]>([
    ['without a seal', () => ({ answer: 'forged' })],
    ['with the seal of its job', (seal) => ({ answer: 'forged', seal })],
  ])('a reply %s is ignored and counted, and that of the worker received', async (_, reply) => {
    await using queue = testQueue(redis.url);
    const { release } = holdingWorker(queue);
    const asked = (await readyClient(queue)).request('q', { deadlineMs: 20_000 });
    await waitUntil('a running job', 5000, async () => (await view.jobs(queue.name, 'active')).length === 1);
    const [jobId = ''] = await view.jobs(queue.name, 'active');
    const data = await dataOf(queue, jobId);
    for (const message of [{ jobId, ...reply(data.seal) }, 1, null]) {
      await view.redis.spublish(data.reply, JSON.stringify(message));
    }
    await waitUntil('a forgery', 5000, async () => queue.forged.length === 1);
    release();
    expect(await asked).toBe('Q');
    expect(queue.forged).toEqual(['answer']);
  });

  test('a reply nested too deeply to serialize is counted, and its client goes on waiting', async () => {
    await using queue = testQueue(redis.url);
    const { release } = holdingWorker(queue);
    const asked = (await readyClient(queue)).request('q', { deadlineMs: 20_000 });
    await waitUntil('a running job', 5000, async () => (await view.jobs(queue.name, 'active')).length === 1);
    const [jobId = ''] = await view.jobs(queue.name, 'active');
    const { reply } = await dataOf(queue, jobId);
    await view.redis.spublish(reply, `{"jobId":"${jobId}","answer":${tooDeep}}`);
    await waitUntil('a forgery', 5000, async () => queue.forged.length === 1);
    release();
    expect(await asked).toBe('Q');
  });

  test('the sealed reply to another request is ignored', async () => {
    await using queue = testQueue(redis.url);
    queue.worker();
    const client = await readyClient(queue);
    await client.request('one', { deadlineMs: 5000, jobId: 'one' });
    await client.request('two', { deadlineMs: 5000, jobId: 'two' });
    const returned = (await view.redis.hget(view.key(queue.name, 'one'), 'returnvalue')) ?? '';
    expect(JSON.parse(returned)).toEqual({ answer: 'ONE', seal: expect.any(String) });
    await view.redis.hset(view.key(queue.name, 'two'), 'returnvalue', returned);
    expect(await client.request('two', { deadlineMs: 5000, jobId: 'two' })).toBe('TWO');
    expect(queue.forged).toContain('answer');
  });

  test.each<[string, string]>([
    ...['"forged"', '{"answer":"forged"}', '{"answer":"forged","seal":1}', 'null', '{'].map(
      (text): [string, string] => [text, text],
    ),
    ['too deep a nesting', `{"answer":${tooDeep}}`],
  ])('a reply rewritten into %s is counted, and the job runs again', async (_, returned) => {
    await using queue = testQueue(redis.url);
    const { asked } = recordingWorker(queue);
    const asking = { deadlineMs: 5000, jobId: 'shared' };
    expect(await (await readyClient(queue)).request('q', asking)).toBe('Q');
    await view.redis.hset(view.key(queue.name, 'shared'), 'returnvalue', returned);
    expect(await (await readyClient(queue)).request('q', asking)).toBe('Q');
    expect(asked).toEqual(['q', 'q']);
    expect(queue.forged).toContain('answer');
  });

  test.each([
    ['older', 'older,newer'],
    ['older,newer', 'older'],
    ['older,newer', 'newer'],
    ['newer', 'older,newer'],
  ])('during a rotation a client with %s gets replies from a worker with %s', async (asks, answers) => {
    await using asking = testQueue(redis.url, randomUUID(), asks);
    await using answering = testQueue(redis.url, asking.name, answers);
    answering.worker();
    expect(await (await readyClient(asking)).request('q', { deadlineMs: 5000 })).toBe('Q');
    expect([...asking.forged, ...answering.forged]).toEqual([]);
  });

  test('a client with a replaced secret gets no reply', async () => {
    await using asking = testQueue(redis.url, randomUUID(), 'older');
    await using answering = testQueue(redis.url, asking.name, 'newer');
    answering.worker();
    await expect((await readyClient(asking)).request('q', { deadlineMs: 5000 })).rejects.toThrow(QueueUnavailable);
    expect(answering.forged).toEqual(['job']);
  });

  test('a polled reply without a seal fails the request', async () => {
    await using queue = testQueue(redis.url);
    const connection = { url: redis.url };
    const forger = new Worker(queue.name, async () => ({ answer: 'forged' }), { connection, prefix: queuePrefix });
    const asked = (await readyClient(queue)).request('q', { deadlineMs: 20_000 });
    await expect(asked).rejects.toMatchObject({ cause: { message: 'the answer has a wrong seal' } });
    expect(queue.forged).toEqual(['answer']);
    await forger.close(true);
  });
});
