import type { JobEnd } from '@echodrop/queue/job-outcome';
import { queueOptionsFor, RedisView } from '@echodrop/queue/queue.fixture';
import { Deferred } from '@echodrop/queue/slow-lane';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type Lane,
  RenditionClient,
  type RenditionReply,
  type RenditionRequest,
  startRenditionWorkers,
} from './rendition.ts';

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
  client = parts.use(new RenditionClient(queueOptionsFor(redis.url)));
  await waitUntil('a connection', async () => (await client.backlogs()).size === 3);
});
afterEach(() => parts.disposeAsync());

/** Publishes photos `a1`, `a2` ... of owner `a`. */
async function publish(owner: string, count: number, from = 1, type: 'jpg' | 'avi' = 'jpg'): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => from + n);
  await Promise.all(numbers.map((n) => client.enqueue({ mediaKey: `${owner}${n}`, type, ...(owner && { owner }) })));
}

/** Requests photos of an owner like viewers who leave; resolves when all requests are in the queue. */
async function view(owner: string, names: readonly string[], set: 'pictures' | 'whole' = 'pictures'): Promise<void> {
  using looking = new RedisView(redis.url);
  const countJobs = () => looking.redis.zcard(looking.key('rendition-pictures', 'prioritized'));
  for (const mediaKey of names) {
    const leaving = new AbortController();
    const wait = { waitMs: patienceMs, signal: leaving.signal };
    const before = await countJobs();
    const reply = client.make({ mediaKey, type: 'jpg', set, owner }, wait);
    reply.catch(() => {});
    if (set === 'whole') await waitUntil('the job', async () => (await countJobs()) === before + 1);
    else await looking.untilAwaited('rendition-pictures', `-${mediaKey}`);
    leaving.abort(new Error('left'));
    await expect(reply).rejects.toThrow('left');
  }
}

const signal = new AbortController().signal;

type Render = (request: RenditionRequest, lane: Lane) => Promise<RenditionReply>;

/** A worker with one slot per lane that records media keys by lane, in order. */
function worker(render: Render = async () => ({ outcome: 'made' })) {
  const quick: string[] = [];
  const slow: string[] = [];
  const ends: JobEnd[] = [];
  const serving = {
    pictureConcurrency: 1,
    videoConcurrency: 1,
    slowConcurrency: 1,
    graceSeconds: 0,
    render: async (request: RenditionRequest, _: AbortSignal, lane: Lane) => {
      ({ quick, slow })[lane].push(request.mediaKey);
      return render(request, lane);
    },
    onEnd: (end: JobEnd) => ends.push(end),
  };
  for (const queue of startRenditionWorkers(serving, queueOptionsFor(redis.url))) parts.use(queue);
  return { quick, slow, ends };
}

/** Renders at once, except `mediaKey`, which waits for `proceed`. */
function pausedAt(mediaKey: string) {
  const started = Promise.withResolvers<void>();
  const proceed = Promise.withResolvers<void>();
  const render: Render = async (request) => {
    if (request.mediaKey === mediaKey) {
      started.resolve();
      await proceed.promise;
    }
    return { outcome: 'made' };
  };
  return { render, started: started.promise, proceed: () => proceed.resolve() };
}

const all = (quick: readonly string[], count: number) => waitUntil('all jobs', async () => quick.length === count);

test('owners take turns, no matter how many jobs one of them has', async () => {
  await publish('a', 100);
  await publish('b', 2);
  const { quick } = worker();
  await all(quick, 102);
  expect(quick.slice(0, 5)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
});

test('a new owner takes the next turn, not the last', async () => {
  await publish('a', 20);
  const pause = pausedAt('a10');
  const { quick } = worker(pause.render);
  await pause.started;
  await publish('b', 2);
  pause.proceed();
  await all(quick, 22);
  expect(quick.slice(9, 14)).toEqual(['a10', 'a11', 'b1', 'a12', 'b2']);
});

test('awaited jobs go first, even if their owner has many jobs', async () => {
  await publish('a', 20);
  await publish('b', 2);
  await view('a', ['a18', 'a19', 'a20']);
  const { quick } = worker();
  await all(quick, 22);
  expect(quick.slice(0, 5)).toEqual(['a18', 'a19', 'a20', 'a1', 'b1']);
});

test('whole pictures of many owners that readers request precede no picture that a page waits for', async () => {
  for (const owner of ['a', 'c', 'd', 'e', 'f']) await view(owner, [`${owner}1`, `${owner}2`], 'whole');
  await publish('b', 1);
  await view('b', ['b1']);
  const { quick } = worker();
  await all(quick, 11);
  expect(quick[0]).toBe('b1');
});

test('awaited jobs of one owner do not block uploads of another', async () => {
  const viewed = Array.from({ length: 40 }, (_, n) => `a${n + 1}`);
  await view('a', viewed);
  await publish('b', 1);
  const { quick } = worker();
  await all(quick, 41);
  expect(quick.indexOf('b1')).toBeLessThan(15);
});

test('a new owner does not wait for the turns of viewers', async () => {
  await publish('a', 20);
  await view('c', ['c1', 'c2', 'c3', 'c4', 'c5']);
  const pause = pausedAt('c4');
  const { quick } = worker(pause.render);
  await pause.started;
  await publish('b', 1);
  pause.proceed();
  await all(quick, 26);
  expect(quick.slice(3, 8)).toEqual(['c4', 'c5', 'a1', 'b1', 'a2']);
});

test('an empty queue resets the turns of all owners', async () => {
  await publish('a', 30);
  const { quick } = worker();
  await all(quick, 30);
  await parts.disposeAsync();
  parts = new AsyncDisposableStack();
  client = parts.use(new RenditionClient(queueOptionsFor(redis.url)));
  await waitUntil('a connection', async () => (await client.backlogs()).size === 3);
  await publish('b', 3);
  await publish('a', 1, 31);
  const later = worker().quick;
  await all(later, 4);
  expect(later).toEqual(['b1', 'a31', 'b2', 'b3']);
});

test('jobs without an owner share the turns of one', async () => {
  await publish('', 10);
  await publish('b', 1);
  const { quick } = worker();
  await all(quick, 11);
  expect(quick.indexOf('b1')).toBe(1);
});

const costly: Render = async ({ mediaKey }, lane) => {
  if (lane === 'quick' && mediaKey.startsWith('a')) throw new Deferred();
  return { outcome: 'made' };
};

test.each([
  ['videos', 'avi', 'rendition-films'],
  ['pictures', 'jpg', 'rendition-pictures'],
] as const)('%s that cost too much for the quick lane move to the slow one, once', async (_, type, queue) => {
  await publish('a', 3, 1, type);
  const { quick, slow, ends } = worker(costly);
  await waitUntil('all jobs to end', async () => ends.length === 6);
  expect([quick, slow]).toEqual(Array(2).fill(['a1', 'a2', 'a3']));
  const outcomes = new Set(ends.map(({ queue, outcome }) => `${queue} ${outcome}`));
  expect(outcomes).toEqual(new Set([`${queue} deferred`, 'rendition-slow completed']));
});

test("100 expensive videos of one owner do not block another's photo and video", async () => {
  await publish('a', 100, 1, 'avi');
  const pause = pausedAt('a5');
  const over = Promise.withResolvers<void>();
  const { quick, slow } = worker(async (request, lane) => {
    if (lane === 'slow') await over.promise;
    if (lane === 'quick') await pause.render(request, lane);
    return costly(request, lane);
  });
  await pause.started;
  await publish('b', 1, 1, 'avi');
  await publish('b', 1, 2, 'jpg');
  await waitUntil('the photo, despite the videos', async () => quick.at(-1) === 'b2');
  pause.proceed();
  await all(quick, 102);
  expect(quick.slice(4, 8)).toEqual(['a5', 'b2', 'a6', 'b1']);
  expect(slow).toEqual(['a1']);
  over.resolve();
});

test('a job in the slow lane does not start in the quick one, however often viewers request it', async () => {
  await publish('a', 1, 1, 'avi');
  const proceed = Promise.withResolvers<void>();
  const { quick, slow } = worker(async (request, lane) => {
    if (lane === 'slow') await proceed.promise;
    return costly(request, lane);
  });
  await all(slow, 1);
  for (let n = 0; n < 3; n += 1) {
    await forgetEnds();
    const request = { mediaKey: 'a1', type: 'avi', set: 'film', owner: 'a' } as const;
    await expect(client.make(request, { waitMs: patienceMs, signal })).rejects.toThrow('job did not complete');
  }
  expect(quick).toEqual(['a1']);
  proceed.resolve();
});

test('a job that ended in the slow lane may run again', async () => {
  await publish('a', 1, 1, 'avi');
  const { quick, slow, ends } = worker(costly);
  await waitUntil('the job to end', async () => ends.length === 2);
  await forgetEnds();
  const request = { mediaKey: 'a1', type: 'avi', set: 'film', owner: 'a' } as const;
  await expect(client.make(request, { waitMs: patienceMs, signal })).rejects.toThrow('job did not complete');
  await all(slow, 2);
  expect(quick).toEqual(['a1', 'a1']);
});

// Moves the recorded end of all video jobs ten seconds into the past.
async function forgetEnds(): Promise<void> {
  using view = new RedisView(redis.url);
  for (const key of await view.redis.keys(view.key('rendition-films', 'film-*'))) {
    const ended = await view.redis.hget(key, 'finishedOn');
    if (ended) await view.redis.hset(key, 'finishedOn', String(Number(ended) - 10_000));
  }
}
