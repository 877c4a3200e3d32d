import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { testQueue } from './queue.fixture.ts';

let redis: RunningRedis;
beforeAll(async () => {
  redis = await startRedis({ more: { 'maxmemory-policy': 'allkeys-lru' } });
});
afterAll(() => redis[Symbol.asyncDispose]());

const reasonOf = (part: { ready(): Promise<void> }) =>
  part.ready().then(
    () => 'ready',
    ({ message }) => message,
  );

test('clients and workers are not ready if Redis lacks their database, say so, and use no other', async () => {
  await using other = testQueue(redis.url, { name: 'same' });
  await using queue = testQueue(`${redis.url}/16`, { name: 'same' });
  const client = queue.client();
  const { worker, ends } = queue.worker();
  for (const part of [client, worker])
    await expect.poll(() => reasonOf(part)).toMatch(/^Redis refused database 16 .* with a REDIS_PREFIX of its own$/);
  await expect(client.request('q', { deadlineMs: 1000 })).rejects.toThrow('job did not complete');
  const { worker: serving } = other.worker();
  await waitUntil('a connection', () => serving.ready().then(() => true));
  const otherClient = other.client();
  await waitUntil('a reply', async () => (await otherClient.request('q', { deadlineMs: 5000 })) === 'Q');
  expect(ends).toEqual([]);
});

test('clients and workers are not ready if their user may not use their prefix, and say what to do', async () => {
  await redis.command('ACL', 'SETUSER', 'other', 'on', '>password', '~{other}*', '~other:*', '&*', '+@all');
  const address = redis.url.replace('//', '//other:password@');
  await using queue = testQueue(address, { prefix: 'harbour' });
  for (const part of [queue.client(), queue.worker().worker])
    await expect
      .poll(() => reasonOf(part))
      .toMatch(
        /^Redis does not let this user use names that begin with \{harbour\} .* REDIS_PREFIX=harbour, and load the users/,
      );
  await using own = testQueue(address, { prefix: 'other' });
  for (const part of [own.client(), own.worker().worker]) await expect.poll(() => reasonOf(part)).toBe('ready');
});

test('queues of two prefixes with the same name share no job, and all keys and channels begin with one of them', async () => {
  await redis.command('FLUSHALL');
  await using first = testQueue(redis.url, { name: 'photos', prefix: 'harbour' });
  await using second = testQueue(redis.url, { name: 'photos', prefix: 'harbour-2', secret: 'a secret of the others' });
  const handle = (reply: string) => ({ handle: async (request: string) => `${reply} ${request}` });
  const workers = [first.worker(handle('first')), second.worker(handle('second'))];
  const clients = [first.client(), second.client()];
  for (const part of clients) await expect.poll(() => reasonOf(part)).toBe('ready');
  const asked = await Promise.all(
    clients.flatMap((client) =>
      ['a', 'b', 'c', 'd', 'e', 'f'].map((jobId) => client.request(jobId, { jobId, owner: 'o', deadlineMs: 5000 })),
    ),
  );
  expect(asked.map((reply) => reply.split(' ')[0])).toEqual([...Array(6).fill('first'), ...Array(6).fill('second')]);
  expect(workers.map(({ ends }) => ends.map(({ outcome }) => outcome))).toEqual(
    [1, 2].map(() => Array(6).fill('completed')),
  );
  expect([...first.forged, ...second.forged]).toEqual([]);
  const lines = (await redis.command('KEYS', '*')) + (await redis.command('PUBSUB', 'SHARDCHANNELS'));
  expect(lines.split('\n').filter((name) => !/^\{(harbour|harbour-2)\}:/.test(name))).toEqual([]);
});

test('BullMQ prints no warning of its own about eviction', async () => {
  const print = vi.spyOn(console, 'warn').mockImplementation(() => {});
  await using queue = testQueue(redis.url);
  const { worker } = queue.worker();
  const client = queue.client();
  await waitUntil('a reply', async () => (await client.request('q', { deadlineMs: 5000 })) === 'Q');
  await waitUntil('a connection', () => worker.ready().then(() => true));
  expect(print.mock.calls).toEqual([]);
  print.mockRestore();
});
