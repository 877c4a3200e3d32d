import { queueOptionsFor, RedisView } from '@echodrop/queue/queue.fixture';
import { Deferred } from '@echodrop/queue/slow-lane';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { RenditionClient, type RenditionReply, startRenditionWorkers } from './rendition.ts';

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let client: RenditionClient;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());
beforeEach(async () => {
  await redis.command('FLUSHALL');
  parts = new AsyncDisposableStack();
  client = await newClient();
});
afterEach(() => parts.disposeAsync());

async function newClient(): Promise<RenditionClient> {
  const made = parts.use(new RenditionClient(queueOptionsFor(redis.url)));
  await waitUntil('a connection', () => made.enqueue({ mediaKey: 'first', type: 'jpg' }).then(() => true));
  return made;
}

type Render = Parameters<typeof startRenditionWorkers>[0]['render'];

const broken: RenditionReply = { outcome: 'unsupported', why: 'broken' };

/** A worker that records its requests, except `first`, which tested the connection. */
function worker(render: Render = async () => ({ outcome: 'made' })): string[] {
  const requests: string[] = [];
  const reply: Render = async (request, ...run) => {
    if (request.mediaKey === 'first') return { outcome: 'made' as const };
    requests.push(`${request.set} ${request.mediaKey}`);
    return render(request, ...run);
  };
  const concurrency = { pictureConcurrency: 1, videoConcurrency: 1, slowConcurrency: 1 };
  const serving = { ...concurrency, graceSeconds: 0, render: reply, onEnd: () => {} };
  for (const queue of startRenditionWorkers(serving, queueOptionsFor(redis.url))) parts.use(queue);
  return requests;
}

const photo = (mediaKey: string) => ({ mediaKey, type: 'jpg', set: 'pictures' }) as const;
const waiting = { waitMs: patienceMs, signal: new AbortController().signal };

test('a photo is enqueued as `pictures`, and a video as `film`; the whole picture is a separate job', async () => {
  await client.enqueue({ mediaKey: 'a-photo', type: 'jpg' });
  await client.enqueue({ mediaKey: 'a-video', type: 'avi' });
  const requests = worker();
  await client.make({ mediaKey: 'a-photo', type: 'jpg', set: 'whole' }, waiting);
  await waitUntil('all requests', async () => requests.length === 3);
  expect(requests.sort()).toEqual(['film a-video', 'pictures a-photo', 'whole a-photo']);
});

test('the share of a video that is transcoded can be read while a worker reports it', async () => {
  const film = { mediaKey: 'a-video', type: 'avi' } as const;
  const begun = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  worker(async (request, _, lane, onProgress) => {
    if (request.mediaKey !== 'a-video') return { outcome: 'made' };
    onProgress(lane === 'quick' ? 0.1 : 0.43);
    if (lane === 'quick') throw new Deferred();
    begun.resolve();
    await proceed.promise;
    return { outcome: 'made' };
  });
  expect(await client.videoProgress(film)).toBeUndefined();
  await client.enqueue(film);
  await begun.promise;
  await expect.poll(() => client.videoProgress(film)).toBe(0.43);
  proceed.resolve();
  await expect.poll(() => client.videoProgress(film)).toBeUndefined();
});

test('many concurrent requests join the job enqueued before them', async () => {
  await client.enqueue({ mediaKey: 'wanted', type: 'jpg' });
  const held = Promise.withResolvers<RenditionReply>();
  const requests = worker(() => held.promise);
  await waitUntil('the job to begin', async () => requests.length === 1);
  const others = await newClient();
  const replies = Array.from({ length: 40 }, (_, n) => (n % 2 ? client : others).make(photo('wanted'), waiting));
  // When a later request of each client is in the queue, the job has been found by all of them.
  const later = [client.make(photo('later'), waiting), others.make(photo('latest'), waiting)];
  await untilAwaited('later', 'latest');
  held.resolve({ outcome: 'made' });
  expect(new Set((await Promise.all(replies)).map(({ outcome }) => outcome))).toEqual(new Set(['made']));
  await Promise.all(later);
  expect(requests.filter((request) => !/later|latest/.test(request))).toEqual(['pictures wanted']);
});

test('renditions that cannot be made are retried after an hour, also if they are enqueued again', async () => {
  const requests = worker(async () => broken);
  expect(await client.make(photo('broken'), waiting)).toEqual(broken);
  for (const minutes of [1, 58]) {
    await endedEarlier('broken', minutes * 60);
    await client.enqueue(photo('broken'));
    expect(await client.make(photo('broken'), waiting)).toEqual(broken);
  }
  expect(requests).toHaveLength(1);
  await endedEarlier('broken', 60);
  await client.make(photo('broken'), waiting);
  expect(requests).toHaveLength(2);
});

/** Waits until jobs for pictures of this media are awaited. */
async function untilAwaited(...mediaKeys: readonly string[]): Promise<void> {
  using view = new RedisView(redis.url);
  await view.untilAwaited('rendition-pictures', ...mediaKeys.map((mediaKey) => `-${mediaKey}`));
}

// The key in Redis of a job for pictures.
async function jobOf(view: RedisView, mediaKey: string): Promise<string> {
  const [key = ''] = await view.redis.keys(view.key('rendition-pictures', `pictures-*${mediaKey}`));
  return key;
}

// Moves the end of a kept job into the past.
async function endedEarlier(mediaKey: string, seconds: number): Promise<void> {
  using view = new RedisView(redis.url);
  const key = await jobOf(view, mediaKey);
  const ended = Number(await view.redis.hget(key, 'finishedOn'));
  await view.redis.hset(key, 'finishedOn', String(ended - seconds * 1000));
}

test('renditions that are requested after they were made are made again, because they must have been deleted', async () => {
  const requests = worker();
  await client.make(photo('deleted'), waiting);
  await endedEarlier('deleted', 1);
  await client.make(photo('deleted'), waiting);
  expect(requests).toEqual(['pictures deleted', 'pictures deleted']);
});

test('a failed job is retried after the clock of its worker was an hour ahead', async () => {
  let isDown = true;
  worker(async () => {
    if (isDown) throw new Error('the store is down');
    return { outcome: 'made' };
  });
  await expect(client.make(photo('early'), waiting)).rejects.toThrow('job did not complete');
  isDown = false;
  await endedEarlier('early', -3600);
  expect(await client.make(photo('early'), waiting)).toEqual({ outcome: 'made' });
});

const typeOff: RenditionReply = { outcome: 'unsupported', why: 'type_off' };

test.each<[string, () => RenditionReply, unknown]>([
  ['a failed job', () => expect.fail('the store is down'), 'job did not complete'],
  ['a type that is turned off', () => typeOff, typeOff],
])('%s is retried after ten seconds, not at once', async (_, fail, outcome) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  let reply = fail;
  const requests = worker(async () => reply());
  const make = () => client.make(photo('unlucky'), waiting).catch(({ message }: Error) => message);
  expect(await make()).toEqual(outcome);
  reply = () => ({ outcome: 'made' });
  expect(await make()).toEqual(outcome);
  expect(requests).toHaveLength(1);
  await endedEarlier('unlucky', 10);
  expect(await make()).toEqual({ outcome: 'made' });
});

test('media that killed two workers is too costly for an hour', async () => {
  const requests = worker(async () => {
    throw new Error('job stalled more than allowable limit');
  });
  for (let n = 0; n < 3; n += 1) {
    expect(await client.make(photo('deadly'), waiting)).toEqual({ outcome: 'unsupported', why: 'too_costly' });
    await endedEarlier('deadly', 600);
  }
  expect(requests).toEqual(['pictures deadly']);
});
