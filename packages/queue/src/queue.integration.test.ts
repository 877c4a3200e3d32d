import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { msUntilSettled, queuePrefix, RedisView, readyClient, type TestQueue, testQueue } from './queue.fixture.ts';
import { QueueUnavailable } from './queue-client.ts';

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

const hourMs = 3_600_000;

/** A client with its own connection, and the replies that it received. It never polls. */
async function listeningClient(queue: TestQueue) {
  const { client, connection } = queue.clientWithConnection({ pollMs: hourMs });
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
      return sleep(hourMs, 'never', { signal }).finally(() => aborted.resolve(signal.reason));
    },
  });
  return { ...worker, started: started.promise, aborted: aborted.promise };
}

test('the handler is aborted at the deadline', async () => {
  await using queue = testQueue(redis.url);
  // The clock stands still, so that the job starts before its deadline even on a busy machine; its timer runs.
  vi.useFakeTimers({ toFake: ['Date'] });
  queue.worker({ handle: (_, signal) => sleep(hourMs, 'too late', { signal }) });
  const client = await readyClient(queue);
  const reply = client.request('q', { deadlineMs: 500, waitMs: hourMs });
  expect(await msUntilSettled(reply)).toBeLessThan(patienceMs);
  await expect(reply).rejects.toMatchObject({
    name: 'QueueUnavailable',
    cause: { message: expect.stringMatching(/abort/) },
  });
});

test('with maxSeconds, a job that began in time is not aborted at its deadline', async () => {
  await using queue = testQueue(redis.url);
  vi.useFakeTimers({ toFake: ['Date'] });
  queue.worker({ maxSeconds: 3600, handle: (_, signal) => sleep(1000, 'late', { signal }) });
  const client = await readyClient(queue);
  expect(await client.request('q', { deadlineMs: 300, waitMs: hourMs })).toBe('late');
});

describe.concurrent('a queue', () => {
  test('a request gets its reply, and the worker is notified of the end of the job', async () => {
    await using queue = testQueue(redis.url);
    const { ends } = queue.worker();
    const client = await readyClient(queue);
    const begin = Date.now();
    expect(await client.request('größe\0\u{1F600}', { deadlineMs: patienceMs })).toBe('GRÖSSE\0\u{1F600}');
    await waitUntil('the job to end', async () => ends.length === 1);
    const times = { seconds: expect.any(Number), workSeconds: expect.any(Number) };
    expect(ends).toEqual([{ queue: queue.name, jobId: expect.any(String), outcome: 'completed', ...times }]);
    expect(ends[0]?.seconds).toBeLessThanOrEqual((Date.now() - begin) / 1000);
    expect(ends[0]?.workSeconds).toBeLessThanOrEqual(ends[0]?.seconds ?? 0);
  });

  test('each of many concurrent requests gets its own reply', async () => {
    await using queue = testQueue(redis.url);
    queue.worker({ concurrency: 10 });
    queue.worker({ concurrency: 10 });
    const clients = [await readyClient(queue), await readyClient(queue)];
    const requests = Array.from({ length: 300 }, (_, i) => `request ${i}`);
    const replies = await Promise.all(requests.map((q, i) => clients[i % 2]?.request(q, { deadlineMs: patienceMs })));
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
    const failed = client.request('bad', { deadlineMs: patienceMs });
    await expect(failed).rejects.toThrow(QueueUnavailable);
    await expect(failed).rejects.toMatchObject({ cause: { message: 'the store is down' } });
    expect(await client.request('good', { deadlineMs: patienceMs })).toBe('good');
    await waitUntil('both jobs to end', async () => ends.length === 2);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['failed', 'completed']);
  });

  test('without a worker a request fails at its time limit, and its job is removed', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const reply = client.request('q', { deadlineMs: hourMs, waitMs: 500 });
    expect(await msUntilSettled(reply)).toBeLessThan(patienceMs);
    await expect(reply).rejects.toMatchObject({
      name: 'QueueUnavailable',
      cause: { message: 'timed out waiting for reply' },
    });
    // The job may be added only later.
    const eventsOfJobs = async () => [...(await view.events(queue.name)).values()];
    await waitUntil('the removal of the job', async () => (await eventsOfJobs())[0]?.at(-1) === 'removed');
    expect(await eventsOfJobs()).toEqual([['added', 'waiting', 'removed']]);
  });

  test("an aborted request rejects with the signal's reason, and its job is removed", async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const leaving = new AbortController();
    const reply = client.request('q', { deadlineMs: patienceMs, signal: leaving.signal });
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
      client.request('q', { deadlineMs: patienceMs, signal: leaving.signal }),
    );
    const afterwards = client.request('q', {
      deadlineMs: patienceMs,
      signal: AbortSignal.abort(new Error('never came')),
    });
    leaving.abort(new Error('client went away'));
    await expect(afterwards).rejects.toThrow('never came');
    for (const one of replies) await expect(one).rejects.toThrow('client went away');
    const last = client.request('last', { deadlineMs: patienceMs });
    // When a later job alone waits, all earlier ones have been added and removed.
    await waitUntil('the last job alone', async () => {
      const [jobId = '', ...others] = await view.jobs(queue.name, 'wait');
      return others.length === 0 && /"last"/.test((await view.redis.hget(view.key(queue.name, jobId), 'data')) ?? '');
    });
    const { ends } = queue.worker();
    expect(await last).toBe('LAST');
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
    await client.request('in time', { deadlineMs: patienceMs });
    expect(handled).toEqual(['in time']);
    await waitUntil('both jobs to end', async () => ends.length === 2);
    expect(ends.map(({ outcome }) => outcome)).toEqual(['late', 'completed']);
  });

  test('with maxSeconds, the handler is aborted that long after its start', async () => {
    await using queue = testQueue(redis.url);
    let handledMs = 0;
    const handle = (_: string, signal: AbortSignal) => {
      const handling = sleep(hourMs, 'too late', { signal });
      msUntilSettled(handling).then((ms) => {
        handledMs = ms;
      });
      return handling;
    };
    queue.worker({ maxSeconds: 0.5, handle });
    const client = await readyClient(queue);
    await expect(client.request('q', { deadlineMs: hourMs })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/abort/) },
    });
    expect(handledMs).toBeGreaterThan(450);
    expect(handledMs).toBeLessThan(patienceMs);
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
    const first = await readyClient(queue);
    const second = await readyClient(queue);
    const waiting = { deadlineMs: patienceMs, jobId: 'small-c0ffee' };
    const patient = [first.request('small', waiting), second.request('small', waiting)];
    await expect(second.request('small', { ...waiting, waitMs: 200 })).rejects.toThrow(QueueUnavailable);
    held.resolve();
    expect(await Promise.all(patient)).toEqual(['SMALL', 'SMALL']);
    expect(requests).toEqual(['small']);
  });

  test('the reply of a finished job is found by polling', async () => {
    await using queue = testQueue(redis.url);
    const { ends } = queue.worker();
    const waiting = { deadlineMs: hourMs, jobId: 'small-c0ffee' };
    expect(await (await readyClient(queue)).request('small', waiting)).toBe('SMALL');
    const again = (await readyClient(queue)).request('small', waiting);
    expect(await msUntilSettled(again)).toBeLessThan(patienceMs);
    expect(await again).toBe('SMALL');
    expect(ends).toHaveLength(1);
  });

  test.each([
    ['that is lost', { reply: 'no-listener' }],
    ['that is never published', {}],
  ])('a reply %s is found by polling', async (_, changed) => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const reply = client.request('q', { deadlineMs: hourMs });
    await jobsReach(queue, 'wait', 1);
    const [jobId = ''] = await view.jobs(queue.name, 'wait');
    const { reply: channel, ...data } = JSON.parse((await view.redis.hget(view.key(queue.name, jobId), 'data')) ?? '');
    expect(channel).toEqual(expect.any(String));
    await view.redis.hset(view.key(queue.name, jobId), 'data', JSON.stringify({ ...data, ...changed }));
    queue.worker();
    expect(await msUntilSettled(reply)).toBeLessThan(patienceMs);
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
    for (const n of [1, 2, 3]) expect(await first.request(`first ${n}`, { deadlineMs: patienceMs })).toBe(`first ${n}`);
    expect(await second.request('second', { deadlineMs: patienceMs })).toBe('second');
    const failed = second.request('bad', { deadlineMs: patienceMs });
    await expect(failed).rejects.toMatchObject({ cause: { message: 'the store is down' } });
    expect(first.replies()).toEqual(['first 1', 'first 2', 'first 3']);
    expect(second.replies()).toEqual(['second', 'the store is down']);

    await first.enqueue('enqueued', { deadlineMs: patienceMs, jobId: 'enqueued', owner: 'a' });
    await waitUntil(
      'the job to end',
      async () => (await view.redis.zscore(view.key(queue.name, 'completed'), 'enqueued')) !== null,
    );
    await second.request('last', { deadlineMs: patienceMs });
    expect(first.replies()).toHaveLength(3);
    expect(second.replies()).toHaveLength(3);
  });

  test('all clients that wait for a shared job receive its end once, and unsubscribe', async () => {
    await using queue = testQueue(redis.url);
    const { release } = holdingWorker(queue, 0);
    const sites = [await listeningClient(queue), await listeningClient(queue)];
    const waiting = { deadlineMs: patienceMs, jobId: 'shared' };
    const reply = [...sites, ...sites].map((site) => site.request('q', waiting));
    await jobsReach(queue, 'active', 1);
    const subscribed = async () =>
      (await view.redis.pubsub('SHARDNUMSUB', `${queuePrefix}:${queue.name}:ended:shared`))[1];
    await waitUntil('both subscriptions', async () => (await subscribed()) === 2);
    release();
    expect(await Promise.all(reply)).toEqual(['Q', 'Q', 'Q', 'Q']);
    await waitUntil('clients to unsubscribe', async () => (await subscribed()) === 0);
    for (const site of sites) expect(site.replies()).toEqual(['Q']);
  });

  test('another worker completes the job of a killed one within ten seconds', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    const program = join(import.meta.dirname, 'queue-process.fixture.ts');
    const dying = execa(process.execPath, [program, 'take-and-hang', redis.url, queue.name], { reject: false });
    const reply = client.request('q', { deadlineMs: patienceMs });
    await jobsReach(queue, 'active', 1);
    const [jobId = ''] = await view.jobs(queue.name, 'active');
    queue.worker();
    dying.kill('SIGKILL');
    await dying;
    // How long Redis keeps what delays another worker: the lock, then the mark of the last check for such jobs.
    const lockMs = await view.redis.pttl(view.key(queue.name, `${jobId}:lock`));
    expect(await reply).toBe('Q');
    const checkMs = await view.redis.pttl(view.key(queue.name, 'stalled-check'));
    expect(lockMs + checkMs).toBeLessThan(10_000);
    expect(await view.stalls(queue.name, jobId)).toBe(1);
  });

  test('a closing worker completes its job within the grace period, and takes no other', async () => {
    await using queue = testQueue(redis.url);
    const { worker, release } = holdingWorker(queue, patienceMs / 1000);
    const client = await readyClient(queue);
    const running = client.request('running', { deadlineMs: patienceMs });
    await jobsReach(queue, 'active', 1);
    const waiting = client.request('waiting', { deadlineMs: patienceMs });
    await jobsReach(queue, 'wait', 1);
    const disposed = worker[Symbol.asyncDispose]();
    release();
    expect(await running).toBe('RUNNING');
    await disposed;
    expect(await view.jobs(queue.name, 'wait')).toHaveLength(1);
    queue.worker();
    expect(await waiting).toBe('WAITING');
  });

  test('a job that exceeds the grace period of its worker is aborted, and the next worker gets it at once', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    let current = slowWorker(queue);
    const reply = client.request('q', { deadlineMs: hourMs, jobId: 'moves' });
    for (let stops = 0; stops < 3; stops += 1) {
      await current.started;
      const next = slowWorker(queue);
      await waitUntil('a connection', () => next.worker.ready().then(() => true));
      expect(await msUntilSettled(current.worker[Symbol.asyncDispose]())).toBeLessThan(patienceMs);
      expect(await current.aborted).toMatchObject({ message: 'worker is stopping' });
      await next.started;
      // It has not waited until the lock expired.
      expect(await view.stalls(queue.name, 'moves')).toBe(0);
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
    const reply = client.request('q', { deadlineMs: hourMs, jobId: 'moves' });
    await jobsReach(queue, 'active', 1);
    expect(await msUntilSettled(worker[Symbol.asyncDispose]())).toBeLessThan(patienceMs / 2);
    queue.worker({ handle: async () => 'by another' });
    expect(await reply).toBe('by another');
    expect(await view.stalls(queue.name, 'moves')).toBe(0);
    expect(ends).toEqual([]);
    release();
  });

  test("a handler that ignores its time limit keeps neither its job nor its worker's slot", async () => {
    await using queue = testQueue(redis.url);
    const handle = (request: string) =>
      request === 'hangs' ? new Promise<string>(() => {}) : Promise.resolve(request);
    const { ends } = queue.worker({ handle, maxSeconds: 0.2 });
    const client = await readyClient(queue);
    const hanging = client.request('hangs', { deadlineMs: patienceMs });
    const next = client.request('next', { deadlineMs: patienceMs });
    await expect(hanging).rejects.toThrow('job did not complete');
    expect(await next).toBe('next');
    expect(ends.map(({ outcome }) => outcome)).toContain('failed');
  });

  test('a returned job keeps its turn: after awaited jobs, before other jobs', async () => {
    await using queue = testQueue(redis.url);
    const client = await readyClient(queue);
    await client.enqueue('unattended first', { deadlineMs: patienceMs, jobId: 'one', owner: 'a' });
    await client.enqueue('unattended second', { deadlineMs: patienceMs, jobId: 'two', owner: 'a' });
    const stopping = slowWorker(queue);
    await stopping.started;
    const reply = client.request('awaited', { deadlineMs: patienceMs });
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

  test('a worker that loses a job and takes it again while its first run is ending completes it', async () => {
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
    const reply = client.request('run', { deadlineMs: patienceMs, jobId: 'lost-once' });
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
      { reject: false, timeout: patienceMs },
    );
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: 'echo', stderr: '' });
  });
});
