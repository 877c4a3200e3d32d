import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { msUntilSettled, RedisView, readyClient, testQueue } from './queue.fixture.ts';
import { type QueueClient, QueueUnavailable } from './queue-client.ts';
import { defaultLimits } from './queue-connection.ts';

// Far above the time limits of a command and of closing (2 s), and far below what a request or a worker would otherwise wait.
const bounded = 30_000;
const hourMs = 3_600_000;

async function start() {
  const redis = await startRedis({ persistent: true });
  const queue = testQueue(redis.url, { limits: defaultLimits });
  return {
    redis,
    queue,
    async [Symbol.asyncDispose]() {
      await redis.thaw();
      await queue[Symbol.asyncDispose]();
      await redis[Symbol.asyncDispose]();
    },
  };
}

async function expectReply(client: QueueClient<string, string>): Promise<void> {
  await waitUntil('a reply', async () => (await client.request('q', { deadlineMs: 3000 })) === 'Q');
}

/** A request that a worker completes when `held` is resolved. */
async function requestHeld(queue: ReturnType<typeof testQueue>, view: RedisView) {
  const held = Promise.withResolvers<void>();
  queue.worker({
    handle: async (request) => {
      await held.promise;
      return request.toUpperCase();
    },
  });
  const client = await readyClient(queue);
  const reply = client.request('q', { deadlineMs: patienceMs });
  await waitUntil('a running job', async () => (await view.jobs(queue.name, 'active')).length === 1);
  return { held, client, reply };
}

/** Milliseconds until a request fails. */
async function msUntilFailure(client: QueueClient<string, string>): Promise<number> {
  const reply = client.request('q', { deadlineMs: hourMs });
  const ms = await msUntilSettled(reply);
  await expect(reply).rejects.toThrow(QueueUnavailable);
  return ms;
}

async function failsInTime(client: QueueClient<string, string>): Promise<boolean> {
  return (await msUntilFailure(client)) < bounded;
}

/** Whether a request fails without waiting for a timer or for Redis. */
async function failsAtOnce(client: QueueClient<string, string>): Promise<boolean> {
  const failure = client.request('q', { deadlineMs: hourMs }).catch((error: unknown) => error);
  const inTime = await Promise.race([failure, nextTurn()]);
  return inTime instanceof QueueUnavailable;
}

test('Redis is down: requests fail at once, and succeed after it restarts', async () => {
  await using system = await start();
  const { redis, queue } = system;
  queue.worker();
  const client = queue.client();
  await expectReply(client);
  await redis.kill();
  await expect(client.ready()).rejects.toThrow();
  for (let i = 0; i < 11; i += 1) expect(await failsAtOnce(client)).toBe(true);
  await redis.restart();
  await expectReply(client);
});

describe.concurrent('a queue', () => {
  test.each([
    ['is down', 'kill', 'restart', failsAtOnce],
    ['hangs', 'freeze', 'thaw', failsInTime],
  ] as const)('Redis %s when client and worker start: they work once it responds', async (_, stop, resume, fails) => {
    await using system = await start();
    const { redis, queue } = system;
    await redis[stop]();
    queue.worker();
    const client = queue.client();
    expect(await fails(client)).toBe(true);
    await redis[resume]();
    await expectReply(client);
  });

  test('Redis hangs: requests fail in time and their jobs are removed; they succeed when it resumes', async () => {
    await using system = await start();
    const { redis, queue } = system;
    const client = await readyClient(queue);
    await redis.freeze();
    const refused = Array.from({ length: 5 }, () => msUntilFailure(client));
    expect(Math.max(...(await Promise.all(refused)))).toBeLessThan(bounded);
    expect(await msUntilSettled(client.ready())).toBeLessThan(bounded);
    await redis.thaw();
    using view = new RedisView(redis.url);
    await waitUntil('removal of the job', async () => (await view.jobs(queue.name, 'wait')).length === 0);
    queue.worker();
    await expectReply(client);
  });

  test('Redis hangs while a client waits: the reply arrives when it resumes', async () => {
    await using system = await start();
    const { redis, queue } = system;
    using view = new RedisView(redis.url);
    const { held, client, reply } = await requestHeld(queue, view);
    await redis.freeze();
    held.resolve();
    // Longer than the command timeout, so that a poll fails.
    expect(await msUntilSettled(client.ready())).toBeLessThan(bounded);
    await redis.thaw();
    expect(await reply).toBe('Q');
  });

  test('Redis hangs for longer than a lock lasts: a running job is aborted, restarted once, and completed', async () => {
    await using system = await start();
    const { redis, queue } = system;
    const runs: AbortSignal[] = [];
    const started = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handle = async (request: string, signal: AbortSignal) => {
      const run = runs.push(signal);
      started[run - 1]?.resolve();
      await sleep(run === 1 ? hourMs : 3000, undefined, { signal });
      return `${request} ${run}`;
    };
    const workers = [queue.worker({ handle }), queue.worker({ handle })];
    const client = await readyClient(queue);
    const reply = client.request('run', { deadlineMs: patienceMs });
    await started[0]?.promise;
    await redis.freeze();
    await sleep(10_000);
    await redis.thaw();
    await waitUntil('the abort of the first run', async () => runs[0]?.aborted === true);
    expect(runs[0]?.reason).toMatchObject({ message: 'job lock lost' });
    expect(await reply).toBe('run 2');
    expect(runs).toHaveLength(2);
    const ends = () => workers.flatMap((worker) => worker.ends.map(({ outcome }) => outcome));
    await waitUntil('the job to end', async () => ends().length > 0);
    expect(ends()).toEqual(['completed']);
  });

  test('Redis is killed during a job and restarts with its jobs: the reply arrives', async () => {
    await using system = await start();
    const { redis, queue } = system;
    using view = new RedisView(redis.url);
    const { held, reply } = await requestHeld(queue, view);
    await view.redis.call('WAITAOF', '1', '0', `${patienceMs}`).catch(() => {});
    await redis.restart();
    held.resolve();
    expect(await reply).toBe('Q');
  });

  test.each([undefined, 'shared'])(
    'all data is lost while a client waits: it adds its job (%s) again',
    async (jobId) => {
      await using system = await start();
      const { redis, queue } = system;
      const client = await readyClient(queue);
      const reply = client.request('q', { deadlineMs: patienceMs, ...(jobId && { jobId }) });
      using view = new RedisView(redis.url);
      await waitUntil('a waiting job', async () => (await view.jobs(queue.name, 'wait')).length === 1);
      await view.redis.flushall();
      queue.worker();
      expect(await reply).toBe('Q');
    },
  );

  test('Redis closes the connection during the first handshake: the client works after it', async () => {
    await using system = await start();
    const { redis, queue } = system;
    // Forwards one command on its first connection, then breaks it.
    let connections = 0;
    const proxy = createServer((socket) => {
      connections += 1;
      const upstream = connect(redis.port, '127.0.0.1');
      for (const end of [socket, upstream]) end.on('error', () => {});
      upstream.pipe(socket).on('close', () => upstream.destroy());
      if (connections > 1) return socket.pipe(upstream);
      let commands = 0;
      socket.on('data', (chunk) => {
        commands += chunk.toString().match(/\binfo\b/gi)?.length ?? 0;
        if (commands > 1) socket.destroy();
        else upstream.write(chunk);
      });
      return socket;
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as { port: number };
    queue.worker();
    await using throughProxy = testQueue(`redis://127.0.0.1:${port}`, { name: queue.name, limits: defaultLimits });
    await expectReply(throughProxy.client());
    proxy.close();
  });

  test.each([
    ['is up', async () => {}],
    ['hangs', (redis: RunningRedis) => redis.freeze()],
    ['is down', (redis: RunningRedis) => redis.kill()],
  ])('client and worker close in time if Redis %s', async (_, happens) => {
    await using system = await start();
    const { redis, queue } = system;
    const { worker } = queue.worker({ graceSeconds: 0.5 });
    const client = queue.client();
    await expectReply(client);
    await happens(redis);
    expect(await msUntilSettled(client[Symbol.asyncDispose]())).toBeLessThan(bounded);
    expect(await msUntilSettled(worker[Symbol.asyncDispose]())).toBeLessThan(bounded);
  });

  test('a worker closes at once if Redis was never up', async () => {
    await using system = await start();
    const { redis, queue } = system;
    await redis.kill();
    const { worker } = queue.worker({ graceSeconds: 3600 });
    expect(await msUntilSettled(worker[Symbol.asyncDispose]())).toBeLessThan(bounded);
  });

  test('a process whose client never reached Redis exits', async () => {
    await using system = await start();
    const { redis, queue } = system;
    await redis.kill();
    const program = join(import.meta.dirname, 'queue-process.fixture.ts');
    const { stdout, exitCode } = await execa(
      process.execPath,
      [program, 'request-without-redis', redis.url, queue.name],
      {
        reject: false,
        timeout: patienceMs,
      },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'QueueUnavailable' });
  });
});
