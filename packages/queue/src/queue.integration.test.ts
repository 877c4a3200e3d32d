import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { msUntilSettled, RedisView, readyClient, type TestQueue, testQueue } from './queue.fixture.ts';
import { QueueUnavailable } from './queue-client.ts';
import { sharedChannel } from './replies.ts';

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

/** A client with its own connection, and the replies that it received. */
async function listeningClient(queue: TestQueue) {
  const { client, connection } = queue.clientWithConnection();
  const replies: string[] = [];
  connection.redis.on('smessage', (_channel: string, message: string) => {
    const { answer: reply, failure } = JSON.parse(message);
    replies.push(reply ?? failure);
  });
  await waitUntil('a connection', () => client.ready().then(() => true));
  return Object.assign(client, { replies: () => replies });
}

async function jobsReach(queue: TestQueue, list: 'wait' | 'active', length: number): Promise<void> {
  await waitUntil(`${length} jobs in ${list}`, async () => (await view.jobs(queue.name, list)).length === length);
}

/** A worker that holds its jobs until `release`. */
function holdingWorker(queue: TestQueue, graceSeconds: number) {
  const held = Promise.withResolvers<void>();
  const worker = queue.worker({
    graceSeconds,
    handle: async (request) => {
      await held.promise;
      return request.toUpperCase();
    },
  });
  return { ...worker, release: () => held.resolve() };
}

/** A worker whose job runs until it is aborted. */
function slowWorker(queue: TestQueue) {
  const started = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<unknown>();
  const worker = queue.worker({
    graceSeconds: 0.3,
    handle: (_, signal) => {
      started.resolve();
      return sleep(60_000, 'never', { signal }).finally(() => aborted.resolve(signal.reason));
    },
  });
  return { ...worker, started: started.promise, aborted: aborted.promise };
}

describe.concurrent('a queue', () => {
  test('a request gets its reply, and the worker is notified of the end of the job', async () => {
    await using queue = testQueue(redis.url);
    const { ends } = queue.worker();
    const client = await readyClient(queue);
    expect(await client.request('größe\0\u{1F600}', { deadlineMs: 5000 })).toBe('GRÖSSE\0\u{1F600}');
    await waitUntil('the job to end', async () => ends.length === 1);
    const times = { seconds: expect.any(Number), workSeconds: expect.any(Number) };
    expect(ends).toEqual([{ queue: queue.name, jobId: expect.any(String), outcome: 'completed', ...times }]);
    expect(ends[0]?.seconds).toBeLessThan(2);
    expect(ends[0]?.workSeconds).toBeLessThanOrEqual(ends[0]?.seconds ?? 0);
  });

  test('each of many concurrent requests gets its own reply', async () => {
    await using queue = testQueue(redis.url);
    queue.worker({ concurrency: 10 });
    queue.worker({ concurrency: 10 });
    const clients = [await readyClient(queue), await readyClient(queue)];
    const requests = Array.from({ length: 300 }, (_, i) => `request ${i}`);
    const replies = await Promise.all(requests.map((q, i) => clients[i % 2]?.request(q, { deadlineMs: 10_000 })));
    expect(replies).toEqual(requests.map((request) => request.toUpperCase()));
  });

  test('a failed job is QueueUnavailable with its error, and the worker continues', async () => {
    await using queue = testQueue(redis.url);
    const { ends } = queue.worker({
      handle: async (request) => {
        if (request === 'bad') throw new Error('the store is down');
        return request;
      },
    });
    const client = await readyClient(queue);
    const failed = client.request('bad', { deadlineMs: 5000 });
    await expect(failed).rejects.toThrow(QueueUnavailable);
    await expect(failed).rejects.toMatchObject({ cause: { message: 'the store is down' } });
    expect(await client.request('good', { deadlineMs: 5000 })).toBe('good');
    await waitUntil('both jobs to end', async () => ends.length === 2);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['failed', 'completed']);
  });

  test('without a worker a request fails at its time limit, and its job is removed', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const reply = client.request('q', { deadlineMs: 20_000, waitMs: 2000 });
    reply.catch(() => {});
    await jobsReach(queue, 'wait', 1);
    expect(await msUntilSettled(reply)).toBeLessThan(5000);
    await expect(reply).rejects.toThrow(QueueUnavailable);
    await jobsReach(queue, 'wait', 0);
  });

  test("an aborted request rejects with the signal's reason, and its job is removed", async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const leaving = new AbortController();
    const reply = client.request('q', { deadlineMs: 10_000, signal: leaving.signal });
    await jobsReach(queue, 'wait', 1);
    leaving.abort(new Error('client went away'));
    await expect(reply).rejects.toThrow('client went away');
    await jobsReach(queue, 'wait', 0);
  });

  test('requests aborted while being sent leave no job behind', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const leaving = new AbortController();
    const replies = Array.from({ length: 20 }, () =>
      client.request('q', { deadlineMs: 10_000, signal: leaving.signal }),
    );
    const afterwards = client.request('q', { deadlineMs: 10_000, signal: AbortSignal.abort(new Error('never came')) });
    leaving.abort(new Error('client went away'));
    await expect(afterwards).rejects.toThrow('never came');
    for (const one of replies) await expect(one).rejects.toThrow('client went away');
    // When a later job has its reply, all earlier ones have been added and removed.
    const { ends } = queue.worker();
    expect(await client.request('last', { deadlineMs: 5000 })).toBe('LAST');
    await waitUntil('the job to end', async () => ends.length === 1);
    expect(await view.jobs(queue.name, 'wait')).toEqual([]);
    expect(await view.redis.keys(view.key(queue.name, '????????-????-*'))).toHaveLength(1);
  });

  test('a job past its deadline is skipped', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const late = client.request('late', { deadlineMs: 100, jobId: 'shared' });
    await expect(late).rejects.toThrow(QueueUnavailable);
    await jobsReach(queue, 'wait', 1);
    await sleep(100);
    const handled: string[] = [];
    const { ends } = queue.worker({
      handle: async (request) => {
        handled.push(request);
        return request;
      },
    });
    await client.request('in time', { deadlineMs: 5000 });
    expect(handled).toEqual(['in time']);
    await waitUntil('both jobs to end', async () => ends.length === 2);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['late', 'completed']);
  });

  test('the handler is aborted at the deadline', async () => {
    await using queue = testQueue(redis.url);
    queue.worker({ handle: (_, signal) => sleep(60_000, 'too late', { signal }) });
    const client = await readyClient(queue);
    // A job that a busy machine starts after its deadline ends as late.
    const reply = client.request('q', { deadlineMs: 1500, waitMs: 10_000 });
    expect(await msUntilSettled(reply)).toBeLessThan(4000);
    await expect(reply).rejects.toMatchObject({
      name: 'QueueUnavailable',
      cause: { message: expect.stringMatching(/abort/) },
    });
  });

  test('with maxSeconds, the handler is aborted that long after its start', async () => {
    await using queue = testQueue(redis.url);
    let handledMs = 0;
    const handle = (_: string, signal: AbortSignal) => {
      const handling = sleep(60_000, 'too late', { signal });
      msUntilSettled(handling).then((ms) => {
        handledMs = ms;
      });
      return handling;
    };
    queue.worker({ maxSeconds: 0.5, handle });
    const client = await readyClient(queue);
    await expect(client.request('q', { deadlineMs: 10_000 })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/abort/) },
    });
    expect(handledMs).toBeGreaterThan(450);
    expect(handledMs).toBeLessThan(3000);
  });

  test('clients with the same id share one job, and one with a shorter deadline does not end it for the others', async () => {
    await using queue = testQueue(redis.url);
    const requests: string[] = [];
    const held = Promise.withResolvers<void>();
    queue.worker({
      concurrency: 5,
      handle: async (request) => {
        requests.push(request);
        await held.promise;
        return request.toUpperCase();
      },
    });
    const [first, second] = [await readyClient(queue), await readyClient(queue)];
    const waiting = { deadlineMs: 10_000, jobId: 'small-c0ffee' };
    const patient = [first.request('small', waiting), second.request('small', waiting)];
    await expect(second.request('small', { ...waiting, waitMs: 200 })).rejects.toThrow(QueueUnavailable);
    held.resolve();
    expect(await Promise.all(patient)).toEqual(['SMALL', 'SMALL']);
    expect(requests).toEqual(['small']);
  });

  test('the reply of a finished job is found by polling', async () => {
    await using queue = testQueue(redis.url);
    queue.worker();
    const waiting = { deadlineMs: 10_000, jobId: 'small-c0ffee' };
    expect(await (await readyClient(queue)).request('small', waiting)).toBe('SMALL');
    const again = (await readyClient(queue)).request('small', waiting);
    expect(await msUntilSettled(again)).toBeLessThan(4000);
    expect(await again).toBe('SMALL');
  });

  test.each([
    ['that is lost', { reply: 'no-listener' }],
    ['that is never published', {}],
  ])('a reply %s is found by polling', async (_, changed) => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const reply = client.request('q', { deadlineMs: 10_000 });
    await jobsReach(queue, 'wait', 1);
    const [jobId = ''] = await view.jobs(queue.name, 'wait');
    const { reply: channel, ...data } = JSON.parse((await view.redis.hget(view.key(queue.name, jobId), 'data')) ?? '');
    expect(channel).toEqual(expect.any(String));
    await view.redis.hset(view.key(queue.name, jobId), 'data', JSON.stringify({ ...data, ...changed }));
    queue.worker();
    expect(await msUntilSettled(reply)).toBeLessThan(4000);
    expect(await reply).toBe('Q');
  });

  test('replies and failures are sent only to the requesting client, and to no client for enqueued jobs', async () => {
    await using queue = testQueue(redis.url);
    queue.worker({
      concurrency: 5,
      handle: async (request) => {
        if (request === 'bad') throw new Error('the store is down');
        return request;
      },
    });
    const sites = [await listeningClient(queue), await listeningClient(queue)] as const;
    const [first, second] = sites;
    for (const n of [1, 2, 3]) expect(await first.request(`first ${n}`, { deadlineMs: 5000 })).toBe(`first ${n}`);
    expect(await second.request('second', { deadlineMs: 5000 })).toBe('second');
    const failed = second.request('bad', { deadlineMs: 5000 });
    // From a reply, not from polling.
    expect(await msUntilSettled(failed)).toBeLessThan(1500);
    await expect(failed).rejects.toMatchObject({ cause: { message: 'the store is down' } });
    expect(first.replies()).toEqual(['first 1', 'first 2', 'first 3']);
    expect(second.replies()).toEqual(['second', 'the store is down']);

    await first.enqueue('enqueued', { deadlineMs: 5000, jobId: 'enqueued', owner: 'a' });
    await waitUntil(
      'the job to end',
      async () => (await view.redis.zscore(view.key(queue.name, 'completed'), 'enqueued')) !== null,
    );
    await second.request('last', { deadlineMs: 5000 });
    expect(first.replies()).toHaveLength(3);
    expect(second.replies()).toHaveLength(3);
  });

  test('all clients that wait for a shared job receive its end once, and unsubscribe', async () => {
    await using queue = testQueue(redis.url);
    const { release } = holdingWorker(queue, 0);
    const sites = [await listeningClient(queue), await listeningClient(queue)];
    const waiting = { deadlineMs: 10_000, jobId: 'shared' };
    const reply = [...sites, ...sites].map((site) => site.request('q', waiting));
    await jobsReach(queue, 'active', 1);
    const subscribed = async () => (await view.redis.pubsub('SHARDNUMSUB', sharedChannel(queue.name, 'shared')))[1];
    await waitUntil('both subscriptions', async () => (await subscribed()) === 2);
    release();
    expect(await Promise.all(reply)).toEqual(['Q', 'Q', 'Q', 'Q']);
    for (const site of sites) expect(site.replies()).toEqual(['Q']);
    await waitUntil('clients to unsubscribe', async () => (await subscribed()) === 0);
  });

  test('another worker completes the job of a killed one within ten seconds', {
    timeout: 30_000,
  }, async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const program = join(import.meta.dirname, 'queue-process.fixture.ts');
    const dying = execa(process.execPath, [program, 'take-and-hang', redis.url, queue.name], { reject: false });
    const reply = client.request('q', { deadlineMs: 20_000 });
    await jobsReach(queue, 'active', 1);
    queue.worker();
    dying.kill('SIGKILL');
    expect(await msUntilSettled(reply)).toBeLessThan(10_500);
    expect(await reply).toBe('Q');
  });

  test('a closing worker completes its job within the grace period, and takes no other', async () => {
    await using queue = testQueue(redis.url);
    const { worker, release } = holdingWorker(queue, 5);
    const client = await readyClient(queue);
    const running = client.request('running', { deadlineMs: 10_000 });
    await jobsReach(queue, 'active', 1);
    const waiting = client.request('waiting', { deadlineMs: 10_000 });
    await jobsReach(queue, 'wait', 1);
    const disposed = worker[Symbol.asyncDispose]();
    release();
    expect(await running).toBe('RUNNING');
    await disposed;
    expect(await view.jobs(queue.name, 'wait')).toHaveLength(1);
    queue.worker();
    expect(await waiting).toBe('WAITING');
  });

  test('a job that exceeds the grace period of its worker is aborted, and the next worker gets it at once', {
    timeout: 30_000,
  }, async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    let current = slowWorker(queue);
    const reply = client.request('q', { deadlineMs: 20_000 });
    for (let stops = 0; stops < 3; stops += 1) {
      await current.started;
      const next = slowWorker(queue);
      await next.worker.ready();
      expect(await msUntilSettled(current.worker[Symbol.asyncDispose]())).toBeLessThan(1500);
      expect(await current.aborted).toMatchObject({ message: 'worker is stopping' });
      // Waiting for the lock to expire would take six seconds.
      expect(await msUntilSettled(next.started)).toBeLessThan(1500);
      expect(current.ends).toEqual([]);
      current = next;
    }
    queue.worker();
    await current.worker[Symbol.asyncDispose]();
    expect(await reply).toBe('Q');
  });

  test('a job whose handler ignores the abort still moves to another worker', async () => {
    await using queue = testQueue(redis.url);
    const { worker, release, ends } = holdingWorker(queue, 0);
    const client = await readyClient(queue);
    const reply = client.request('q', { deadlineMs: 20_000 });
    await jobsReach(queue, 'active', 1);
    expect(await msUntilSettled(worker[Symbol.asyncDispose]())).toBeLessThan(2500);
    queue.worker({ handle: async () => 'by another' });
    expect(await msUntilSettled(reply)).toBeLessThan(1500);
    expect(await reply).toBe('by another');
    expect(ends).toEqual([]);
    release();
  });

  test("a handler that ignores its time limit keeps neither its job nor its worker's slot", async () => {
    await using queue = testQueue(redis.url);
    const handle = (request: string) =>
      request === 'hangs' ? new Promise<string>(() => {}) : Promise.resolve(request);
    const { ends } = queue.worker({ handle, maxSeconds: 0.2 });
    const client = await readyClient(queue);
    const hanging = client.request('hangs', { deadlineMs: 20_000 });
    const next = client.request('next', { deadlineMs: 20_000 });
    await expect(hanging).rejects.toThrow('job did not complete');
    expect(await next).toBe('next');
    expect(ends.map(({ outcome }) => outcome)).toContain('failed');
  });

  test('a returned job keeps its turn: after awaited jobs, before other jobs', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    await client.enqueue('unattended first', { deadlineMs: 20_000, jobId: 'one', owner: 'a' });
    await client.enqueue('unattended second', { deadlineMs: 20_000, jobId: 'two', owner: 'a' });
    const stopping = slowWorker(queue);
    await stopping.started;
    const reply = client.request('awaited', { deadlineMs: 20_000 });
    await jobsReach(queue, 'wait', 1);
    await stopping.worker[Symbol.asyncDispose]();
    const handled: string[] = [];
    queue.worker({
      handle: async (request) => {
        handled.push(request);
        return request;
      },
    });
    await reply;
    await waitUntil('all jobs', async () => handled.length === 3);
    expect(handled).toEqual(['awaited', 'unattended first', 'unattended second']);
  });

  test('a worker that loses a job and takes it again while its first run is ending completes it', {
    timeout: 40_000,
  }, async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const runs: AbortSignal[] = [];
    queue.worker({
      concurrency: 2,
      handle: async (request, signal) => {
        const run = runs.push(signal);
        // The first run outlasts the interval of checks for stalled jobs, the second outlasts a lock.
        if (run === 1) await once(signal, 'abort').then(() => sleep(4000));
        else await sleep(7000, undefined, { signal });
        return `${request} ${run}`;
      },
    });
    const reply = client.request('run', { deadlineMs: 30_000, jobId: 'lost-once' });
    await jobsReach(queue, 'active', 1);
    await view.redis.del(view.key(queue.name, 'lost-once:lock'));
    expect(await reply).toBe('run 2');
    expect(runs.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test('a process that closed client and worker exits', async () => {
    await using queue = testQueue(redis.url);
    const program = join(import.meta.dirname, 'queue-process.fixture.ts');
    const { stdout, exitCode, stderr } = await execa(
      process.execPath,
      [program, 'request-and-exit', redis.url, queue.name],
      { reject: false, timeout: 10_000 },
    );
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'echo', stderr: '' });
  });
});
