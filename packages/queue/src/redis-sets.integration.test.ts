import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '@echodrop/service/log';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { Secret } from '@echodrop/service/secret';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { startClusterSet, startSentinelSet } from '@echodrop/testkit/servers/start-redis-set';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { msUntilSettled, testQueue } from './queue.fixture.ts';
import { queuePrefix } from './queue-connection.ts';

// What a command is given when its server hangs (2 s), what a question is (3 s), and something for a busy machine.
const bounded = 4500;

/** A queue whose worker holds `held` until it is told, and an impatient connection beside it, in the Redis at `url`. */
function start(url: string) {
  const parts = new AsyncDisposableStack();
  const queue = parts.use(testQueue(url));
  const client = queue.client();
  const held = Promise.withResolvers<void>();
  const handle = async (request: string) => {
    if (request === 'held') await held.promise;
    return request.toUpperCase();
  };
  const { worker } = queue.worker({ concurrency: 2, handle });
  const connection = parts.use(connectRedis(new Secret(url), failFast, createLog('contracts', 'silent')));
  const answers = () => client.request('q', { deadlineMs: 3000 });
  return {
    name: queue.name,
    client,
    connection,
    answers,
    release: held.resolve,
    /** Resolves when questions are answered, values are kept, and both ends say that they are ready. */
    works: async (withinMs: number) => {
      let longestMs = 0;
      await waitUntil('an answer', withinMs, async () => {
        const answered = answers();
        longestMs = Math.max(longestMs, await msUntilSettled(answered));
        return (await answered) === 'Q' && (await connection.set('{echodrop}:test', 'set')) === 'OK';
      });
      expect(longestMs).toBeLessThan(bounded);
      await waitUntil('both ends', 5000, () => Promise.all([client.ready(), worker.ready()]).then(() => true));
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test.concurrent.each([
  ['a cluster', startClusterSet],
  ['sentinels', startSentinelSet],
] as const)(
  'with %s, questions are answered again when the master was killed, and when the next one hangs',
  async (_, startSet) => {
    await using set = await startSet();
    await using it = start(set.url);
    await it.works(8000);

    // A job that is being done ends under the next master.
    const answer = it.client.request('held', { deadlineMs: 40_000 });
    const first = await set.master();
    const active = `${queuePrefix}:${it.name}:active`;
    await waitUntil('its taking', 5000, async () => (await first.command('LLEN', active)) === '1');
    await first.command('WAIT', '2', '5000');
    await first.kill();
    it.release();
    expect(await msUntilSettled(it.connection.get('{echodrop}:test'))).toBeLessThan(bounded);
    await it.works(20_000);
    expect(await answer).toBe('HELD');
    // The new master tells the end too.
    await waitUntil('a quick answer', 15_000, async () => (await msUntilSettled(it.answers())) < 1000);

    const second = await set.master();
    expect(second).not.toBe(first);
    await second.command('WAIT', '1', '5000');
    await second.freeze();
    await it.works(30_000);
  },
  120_000,
);

test.concurrent.each([
  ['a cluster', startClusterSet],
  ['one server', oneServer],
] as const)(
  'with %s, answers are heard again when everything hung; and refused at once when everything is dead',
  async (_, startSet) => {
    await using set = await startSet();
    await using it = start(set.url);
    await it.works(8000);
    await Promise.all(set.servers.map((server) => server.freeze()));
    expect(await msUntilSettled(it.connection.get('{echodrop}:test'))).toBeLessThan(bounded);
    await expect(it.client.ready()).rejects.toThrow();
    // Longer than a command may block, and than BullMQ then takes to find that it cannot connect again.
    await sleep(8000);
    await Promise.all(set.servers.map((server) => server.thaw()));
    await it.works(30_000);
    // The end is heard, not only looked for.
    await waitUntil('a quick answer', 15_000, async () => (await msUntilSettled(it.answers())) < 1000);

    await Promise.all(set.servers.map((server) => server.kill()));
    const refusedIn = () => msUntilSettled(it.connection.get('{echodrop}:test'));
    await waitUntil('a refusal at once', 5000, async () => (await refusedIn()) < 200);
  },
  120_000,
);

async function oneServer() {
  const redis = await startRedis();
  return { url: redis.url, servers: [redis], [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
}
