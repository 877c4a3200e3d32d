import { setTimeout as sleep } from 'node:timers/promises';
import { queueOptionsFor } from '@echodrop/queue/queue.fixture';
import { defaultLimits } from '@echodrop/queue/queue-connection';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { OwnerBusy, ProbeClient, startProbeWorkers } from './probe.ts';

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let client: ProbeClient;

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis[Symbol.asyncDispose]());
beforeEach(async () => {
  parts = new AsyncDisposableStack();
  client = parts.use(new ProbeClient(queueOptionsFor(redis.url)));
  await waitUntil('a connection', () => client.ready().then(() => true));
});
afterEach(() => parts.disposeAsync());

/** A worker whose jobs all fail with `message`. Returns the media keys of ended jobs. */
function failingWorker(message: string): (string | undefined)[] {
  const ended: (string | undefined)[] = [];
  const serving = { photoConcurrency: 1, videoConcurrency: 1, graceSeconds: 0 };
  const fail = () => Promise.reject(new Error(message));
  const onEnd = (_: unknown, request?: { mediaKey: string }) => ended.push(request?.mediaKey);
  for (const queue of startProbeWorkers({ ...serving, probe: fail, onEnd }, queueOptionsFor(redis.url)))
    parts.use(queue);
  return ended;
}

function probe(mediaKey: string, type: 'jpg' | 'flv', owner = 'a') {
  const request = { mediaKey, size: 3, head: Buffer.from('any') };
  return client.probe(request, type, { owner, deadlineMs: patienceMs, signal: patientSignal() });
}

test.each(['jpg', 'flv'] as const)('a %s that killed two workers is too costly', async (type) => {
  const ended = failingWorker('job stalled more than allowable limit');
  expect(await probe('deadly', type)).toEqual({ outcome: 'unsupported', why: 'too_costly' });
  await waitUntil('the end of the job', async () => ended.includes('deadly'));
});

test("slow probes of one owner take half of a worker's slots, so that those of another complete at once", async () => {
  const reply = { outcome: 'media', kind: 'photo', type: 'jpg', width: 3, height: 2 } as const;
  let proceed = Promise.withResolvers<void>();
  const started: string[] = [];
  const serving = { photoConcurrency: 8, videoConcurrency: 2, graceSeconds: 0, onEnd: () => {} };
  const slow = async ({ mediaKey }: { mediaKey: string }) => {
    started.push(mediaKey);
    if (mediaKey.startsWith('a')) await proceed.promise;
    return reply;
  };
  for (const queue of startProbeWorkers({ ...serving, probe: slow }, queueOptionsFor(redis.url))) parts.use(queue);
  for (const [type, atOnce] of [
    ['flv', 1],
    ['jpg', 4],
  ] as const) {
    const names = Array.from({ length: 10 }, (_, n) => `a-${type}-${n}`);
    const waiting = names.map((name) => probe(name, type));
    await waitUntil('the first probes', async () => started.length === atOnce);
    expect(await probe(`b-${type}`, type, 'b')).toEqual(reply);
    expect(started).toEqual([...names.slice(0, atOnce), `b-${type}`]);
    proceed.resolve();
    expect(await Promise.all(waiting)).toEqual(names.map(() => reply));
    started.length = 0;
    proceed = Promise.withResolvers();
  }
});

test('a probe reports its wait behind those of its owner, and is refused as busy if they took most of its time', async () => {
  const proceed = Promise.withResolvers<void>();
  const reply = { outcome: 'media', kind: 'video', type: 'flv', width: 3, height: 2 } as const;
  const slow = () => proceed.promise.then(() => reply);
  const serving = { photoConcurrency: 1, videoConcurrency: 2, graceSeconds: 0, onEnd: () => {} };
  for (const queue of startProbeWorkers({ ...serving, probe: slow }, queueOptionsFor(redis.url))) parts.use(queue);
  const waits = new Map<string, number>();
  const start = (name: string, owner: string, deadlineMs = patienceMs, signal = patientSignal()) => {
    const onOwnWait = (ms: number) => void waits.set(name, ms);
    const wait = { owner, deadlineMs, signal, onOwnWait };
    return client.probe({ mediaKey: name, size: 3, head: Buffer.from('any') }, 'flv', wait);
  };
  const first = start('first', 'a');
  const late = start('late', 'a', 1);
  const leaving = new AbortController();
  const left = start('left', 'a', patienceMs, leaving.signal);
  const second = start('second', 'a');
  const other = start('other', 'b');
  await expect(late).rejects.toThrow(OwnerBusy);
  leaving.abort(new Error('the client has left'));
  await expect(left).rejects.toThrow('the client has left');
  proceed.resolve();
  await Promise.all([first, second, other]);
  expect([...waits.keys()]).toEqual(['first', 'other', 'second']);
  for (const name of ['first', 'other']) expect(waits.get('second')).toBeGreaterThan(waits.get(name) ?? 0);
});

const request = { mediaKey: '0'.repeat(32), size: 3, head: Buffer.from('abc') };

async function calls(command: string): Promise<number> {
  const stats = await redis.command('INFO', 'commandstats');
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
}

test('100 calls within a second share one read', async () => {
  // The clock of the age of a read: it stands still, and each round begins seconds after the last read.
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const costOf = async (read: () => Promise<unknown>) => {
    now += 2000;
    // lru-cache reads the clock once per millisecond.
    await sleep(5);
    const before = (await calls('llen')) + (await calls('evalsha'));
    await read();
    return (await calls('llen')) + (await calls('evalsha')) - before;
  };
  await client.backlog('photos');
  const one = await costOf(() => client.backlog('photos'));
  const hundred = await costOf(async () => {
    for (let i = 0; i < 10; i += 1) {
      await Promise.all(Array.from({ length: 10 }, () => client.backlog('photos')));
      await redis.command('PING');
      now += 50;
    }
  });
  expect(one).toBeGreaterThan(0);
  expect(hundred).toBe(one);
});

test.each(['freeze', 'kill'] as const)('an unreadable queue counts as empty (%s)', async (how) => {
  const over = new AbortController();
  client.probe(request, 'jpg', { owner: 'a', deadlineMs: patienceMs, signal: over.signal }).catch(() => {});
  const reading = parts.use(new ProbeClient(queueOptionsFor(redis.url, undefined, defaultLimits)));
  await waitUntil('a waiting job', async () => (await reading.backlog('photos')).waiting > 0);
  await redis[how]();
  try {
    await waitUntil('a failed read', async () => (await reading.backlog('photos')).waiting === 0);
  } finally {
    await redis.thaw();
    await redis.restart();
  }
  over.abort(new Error('gone'));
  await waitUntil('a connection', async () => client.ready().then(() => true));
});
