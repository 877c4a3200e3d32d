import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { msUntilSettled, RedisView, testQueue } from './queue.fixture.ts';
import { type QueueClient, QueueUnavailable } from './queue-client.ts';

// What a command is given when Redis hangs (2 s), and something for a busy machine.
const bounded = 3500;

/** A Redis and a queue of a test's own. */
async function start() {
  const redis = await startRedis({ persistent: true });
  const queue = testQueue(redis.url);
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

/** Waits until a question is answered. */
async function works(client: QueueClient<string, string>): Promise<void> {
  await waitUntil('an answer', 8000, async () => (await client.request('q', { deadlineMs: 3000 })) === 'Q');
}

/** A question that a worker has begun, and answers when `held` is resolved. */
async function askHeld(queue: ReturnType<typeof testQueue>, view: RedisView) {
  const held = Promise.withResolvers<void>();
  queue.worker({
    handle: async (request) => {
      await held.promise;
      return request.toUpperCase();
    },
  });
  const client = queue.client();
  await waitUntil('a connection', 5000, () => client.ready().then(() => true));
  const asked = client.request('q', { deadlineMs: 15_000 });
  await waitUntil('a running job', 2000, async () => (await view.jobs(queue.name, 'active')).length === 1);
  return { held, client, asked };
}

/** Asks `client` and gives the milliseconds until it was refused. */
async function refusedAfterMs(client: QueueClient<string, string>): Promise<number> {
  const asked = client.request('q', { deadlineMs: 20_000 });
  const ms = await msUntilSettled(asked);
  await expect(asked).rejects.toThrow(QueueUnavailable);
  return ms;
}

test('Redis is down: a question is refused at once, and answered when it is back', async () => {
  await using system = await start();
  const { redis, queue } = system;
  queue.worker();
  const client = queue.client();
  await works(client);
  await redis.kill();
  await expect(client.ready()).rejects.toThrow();
  const waits: number[] = [];
  for (let i = 0; i < 11; i += 1) waits.push(await refusedAfterMs(client));
  // The middle one: on a busy machine the slowest says nothing.
  expect(waits.toSorted((a, b) => a - b)[5]).toBeLessThan(50);
  await redis.restart();
  await works(client);
});

describe.concurrent('a queue', () => {
  test('Redis comes up after both ends: they work', async () => {
    await using system = await start();
    const { redis, queue } = system;
    await redis.kill();
    queue.worker();
    const client = queue.client();
    expect(await refusedAfterMs(client)).toBeLessThan(200);
    await redis.restart();
    await works(client);
  });

  test('Redis hangs when both ends start: they work when it goes on', async () => {
    await using system = await start();
    const { redis, queue } = system;
    await redis.freeze();
    queue.worker();
    const client = queue.client();
    expect(await refusedAfterMs(client)).toBeLessThan(bounded);
    await redis.thaw();
    await works(client);
  });

  test('Redis hangs: a question is refused in time and its job taken back, and answered when it goes on', async () => {
    await using system = await start();
    const { redis, queue } = system;
    const client = queue.client();
    await waitUntil('a connection', 5000, () => client.ready().then(() => true));
    await redis.freeze();
    const refused = Array.from({ length: 5 }, () => refusedAfterMs(client));
    expect(Math.max(...(await Promise.all(refused)))).toBeLessThan(bounded);
    expect(await msUntilSettled(client.ready())).toBeLessThan(bounded);
    await redis.thaw();
    using view = new RedisView(redis.url);
    await waitUntil('no job waiting', 2000, async () => (await view.jobs(queue.name, 'wait')).length === 0);
    queue.worker();
    await works(client);
  });

  test('Redis hangs while an asker waits: the answer comes when it goes on', async () => {
    await using system = await start();
    const { redis, queue } = system;
    using view = new RedisView(redis.url);
    const { held, client, asked } = await askHeld(queue, view);
    await redis.freeze();
    held.resolve();
    // Longer than a command may take, so that the asker has looked in vain.
    expect(await msUntilSettled(client.ready())).toBeLessThan(bounded);
    await redis.thaw();
    expect(await asked).toBe('Q');
  });

  test('Redis hangs for longer than a lock lasts: a running job is told so, begins anew once, and is answered', {
    timeout: 40_000,
  }, async () => {
    await using system = await start();
    const { redis, queue } = system;
    const runs: AbortSignal[] = [];
    const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const handle = async (request: string, signal: AbortSignal) => {
      const run = runs.push(signal);
      begun[run - 1]?.resolve();
      await sleep(run === 1 ? 30_000 : 3000, undefined, { signal });
      return `${request} ${run}`;
    };
    const workers = [queue.worker({ handle }), queue.worker({ handle })];
    const client = queue.client();
    await waitUntil('a connection', 5000, () => client.ready().then(() => true));
    const asked = client.request('run', { deadlineMs: 30_000 });
    await begun[0]?.promise;
    await redis.freeze();
    await sleep(10_000);
    await redis.thaw();
    await waitUntil('the first run told', 2000, async () => runs[0]?.aborted === true);
    expect(runs[0]?.reason).toMatchObject({ message: 'the lock of the job is lost' });
    expect(await asked).toBe('run 2');
    expect(runs).toHaveLength(2);
    const ends = () => workers.flatMap((worker) => worker.ends.map(({ outcome }) => outcome));
    await waitUntil('its end', 1000, async () => ends().length > 0);
    expect(ends()).toEqual(['answered']);
  });

  test('Redis hangs twice for longer than a lock lasts: its job fails, but has killed no worker', {
    timeout: 60_000,
  }, async () => {
    await using system = await start();
    const { redis, queue } = system;
    let runs = 0;
    const handle = async (request: string, signal: AbortSignal) => {
      runs += 1;
      await sleep(30_000, undefined, { signal });
      return request;
    };
    const { ends } = queue.worker({ handle });
    const client = queue.client();
    await waitUntil('a connection', 5000, () => client.ready().then(() => true));
    const asked = msUntilSettled(client.request('run', { deadlineMs: 50_000 }));
    for (const run of [1, 2]) {
      await waitUntil(`run ${run}`, 10_000, async () => runs === run);
      await redis.freeze();
      await sleep(8000);
      await redis.thaw();
    }
    await asked;
    expect(ends).toMatchObject([{ outcome: 'failed', isDeadly: false }]);
  });

  test('Redis is killed in mid-job and comes back with its jobs: the answer comes', async () => {
    await using system = await start();
    const { redis, queue } = system;
    using view = new RedisView(redis.url);
    const { held, asked } = await askHeld(queue, view);
    await view.redis.call('WAITAOF', '1', '0', '2000').catch(() => {});
    await redis.restart();
    held.resolve();
    expect(await asked).toBe('Q');
  });

  test('everything in Redis is lost while an asker waits: it is refused in time, and the next is answered', async () => {
    await using system = await start();
    const { redis, queue } = system;
    const client = queue.client();
    await waitUntil('a connection', 5000, () => client.ready().then(() => true));
    const refused = refusedAfterMs(client);
    using view = new RedisView(redis.url);
    await waitUntil('a waiting job', 2000, async () => (await view.jobs(queue.name, 'wait')).length === 1);
    await view.redis.flushall();
    expect(await refused).toBeLessThan(bounded);
    queue.worker();
    await works(client);
  });

  test('Redis breaks the connection just when it is first greeted: the asker works all the same', async () => {
    await using system = await start();
    const { redis, queue } = system;
    // Lets one command through on its first connection, then breaks it.
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
    await using throughProxy = testQueue(`redis://127.0.0.1:${port}`, queue.name);
    await works(throughProxy.client());
    proxy.close();
  });

  test.each([
    ['is there', async () => {}],
    ['hangs', (redis: RunningRedis) => redis.freeze()],
    ['is down', (redis: RunningRedis) => redis.kill()],
  ])('both ends close in time where Redis %s', async (_, happens) => {
    await using system = await start();
    const { redis, queue } = system;
    const { worker } = queue.worker({ graceSeconds: 0.5 });
    const client = queue.client();
    await works(client);
    await happens(redis);
    expect(await msUntilSettled(client[Symbol.asyncDispose]())).toBeLessThan(bounded);
    expect(await msUntilSettled(worker[Symbol.asyncDispose]())).toBeLessThan(bounded);
  });

  test('a worker closes at once where Redis has never been', async () => {
    await using system = await start();
    const { redis, queue } = system;
    await redis.kill();
    const { worker } = queue.worker({ graceSeconds: 20 });
    expect(await msUntilSettled(worker[Symbol.asyncDispose]())).toBeLessThan(1000);
  });

  test('an asker that has never seen Redis closes, and nothing keeps its process', async () => {
    await using system = await start();
    const { redis, queue } = system;
    await redis.kill();
    const program = join(import.meta.dirname, 'queue-process.fixture.ts');
    const { stdout, exitCode } = await execa(
      process.execPath,
      [program, 'request-without-redis', redis.url, queue.name],
      {
        reject: false,
        timeout: 8000,
      },
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'QueueUnavailable' });
  });
});
