import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '@echodrop/service/log';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { redisAt } from '@echodrop/service/redis/redis-at.fixture';
import { patienceMs } from '@echodrop/testkit/patience';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { replicate, startClusterSet, startSentinelSet } from '@echodrop/testkit/servers/start-redis-set';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { msUntilSettled, queuePrefix, testQueue } from './queue.fixture.ts';
import { QueueClient } from './queue-client.ts';
import { defaultLimits } from './queue-connection.ts';

// Far above the time limits of a command (2 s) and of a request (3 s): without them, a call would wait until its server responds.
const bounded = 30_000;
const hourMs = 3_600_000;

/** A queue whose worker holds the request `held` until `release`, and a connection that fails fast. */
function start(url: string) {
  const parts = new AsyncDisposableStack();
  const queue = parts.use(testQueue(url, { limits: defaultLimits }));
  const { client, connection: clientConnection } = queue.clientWithConnection();
  // On the same connection, but learns the ends of its jobs from replies alone.
  const limits = { ...clientConnection.limits, pollMs: hourMs };
  const unpolled = parts.use(
    new QueueClient<string, string>(queue.name, Object.create(clientConnection, { limits: { value: limits } })),
  );
  const held = Promise.withResolvers<void>();
  const handle = async (request: string) => {
    if (request === 'held') await held.promise;
    return request.toUpperCase();
  };
  const { worker } = queue.worker({ concurrency: 2, handle });
  const connection = parts.use(connectRedis(redisAt(url), failFast, createLog('queue', 'silent')));
  const request = () => client.request('q', { deadlineMs: 3000 });
  return {
    name: queue.name,
    client,
    connection,
    request,
    release: held.resolve,
    /** Waits until a reply is published and received. */
    waitUntilPublished: () =>
      waitUntil('a published reply', async () => {
        // Subscribes again if it learns its end from a poll.
        await request();
        return (await unpolled.request('q', { deadlineMs: 3000 })) === 'Q';
      }),
    /** Waits until requests get replies, values are stored, and client and worker are ready. */
    waitUntilWorking: async () => {
      let longestMs = 0;
      await waitUntil('a reply', async () => {
        const reply = request();
        longestMs = Math.max(longestMs, await msUntilSettled(reply));
        return (await reply) === 'Q' && (await connection.set('{echodrop}:test', 'set')) === 'OK';
      });
      expect(longestMs).toBeLessThan(bounded);
      await waitUntil('readiness', () => Promise.all([client.ready(), worker.ready()]).then(() => true));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test.concurrent.each([
  ['a cluster', startClusterSet],
  ['sentinels', startSentinelSet],
] as const)(
  'with %s, requests succeed again after the master was killed, and after the next one hung',
  async (_, startSet) => {
    await using set = await startSet();
    await using it = start(set.url);
    await it.waitUntilWorking();

    // A running job ends under the next master.
    const held = it.client.request('held', { deadlineMs: 2 * patienceMs });
    const first = await set.master();
    const active = `${queuePrefix}:${it.name}:active`;
    await waitUntil('the worker to take the job', async () => (await first.command('LLEN', active)) === '1');
    await replicate(set, first);
    await first.kill();
    it.release();
    expect(await msUntilSettled(it.connection.get('{echodrop}:test'))).toBeLessThan(bounded);
    await it.waitUntilWorking();
    expect(await held).toBe('HELD');
    // Replies are published by the new master too.
    await it.waitUntilPublished();

    // Each sentinel learns of the new master in its own time.
    await waitUntil('another master', async () => (await set.master()) !== first);
    const second = await set.master();
    await replicate(set, second);
    await second.freeze();
    await it.waitUntilWorking();
  },
);

test.concurrent('with sentinels, a request succeeds if the master accepts writes again within seconds', async () => {
  await using set = await startSentinelSet();
  await using it = start(set.url);
  await it.waitUntilWorking();
  const master = await set.master();
  // As after a failover, before a replica has caught up.
  await master.command('CONFIG', 'SET', 'min-replicas-to-write', '3');
  const request = it.client.request('q', { deadlineMs: patienceMs });
  const isRefused = async () => (await master.command('INFO', 'errorstats')).includes('errorstat_NOREPLICAS');
  await waitUntil('a refused write', isRefused);
  await master.command('CONFIG', 'SET', 'min-replicas-to-write', '0');
  expect(await request).toBe('Q');
});

test.concurrent.each([
  ['a cluster', startClusterSet],
  ['one server', oneServer],
] as const)(
  'with %s, replies are received again after all servers hung; requests fail at once when all are dead',
  async (_, startSet) => {
    await using set = await startSet();
    await using it = start(set.url);
    await it.waitUntilWorking();
    await Promise.all(set.servers.map((server) => server.freeze()));
    expect(await msUntilSettled(it.connection.get('{echodrop}:test'))).toBeLessThan(bounded);
    await expect(it.client.ready()).rejects.toThrow();
    // Longer than the command timeout, and than BullMQ's reconnection attempts.
    await sleep(8000);
    await Promise.all(set.servers.map((server) => server.thaw()));
    await it.waitUntilWorking();
    // From a reply, not only from polling.
    await it.waitUntilPublished();

    await Promise.all(set.servers.map((server) => server.kill()));
    const isRefusedAtOnce = async () => {
      const refused = it.connection.get('{echodrop}:test').then(
        () => false,
        () => true,
      );
      return Promise.race([refused, nextTurn(false)]);
    };
    await waitUntil('a refusal without a wait', isRefusedAtOnce);
  },
);

async function oneServer() {
  const redis = await startRedis();
  return { url: redis.url, servers: [redis], [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
}
