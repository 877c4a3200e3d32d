import type { ProbeKind } from '@echodrop/contracts/probe';
import { createLog } from '@echodrop/service/log';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { Secret } from '@echodrop/service/secret';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Refusal } from '../answer/refusals.ts';
import { Admission, type AdmittedUpload } from './admission.ts';
import { ProbeQueues } from './probe-queues.ts';
import { UploadRates } from './upload-rates.ts';

const probeTimeoutMs = 10_000;
const caller = { provider: 'https://example.org/', subject: '12345', userId: 12345n, screenName: 'someone' };
const other = { ...caller, subject: '6789' };
const samePersonElsewhere = { ...caller, provider: 'https://example.net/' };

const parts = new AsyncDisposableStack();
let redis: RunningRedis;
let backlogs: Record<ProbeKind, { waiting: number; oldestMs: number }>;
let uncounted: unknown[];

beforeAll(async () => {
  redis = parts.use(await startRedis());
});
afterAll(() => parts.disposeAsync());
beforeEach(async () => {
  await redis.command('FLUSHALL');
  backlogs = { photos: { waiting: 0, oldestMs: 0 }, videos: { waiting: 0, oldestMs: 0 } };
  uncounted = [];
});

const nobodyBlocked: ConstructorParameters<typeof Admission>[3] = {
  requireUser: () => {},
  requireApplication: () => {},
};

interface Limits {
  readonly maxUploads: number;
  readonly maxUploadsPerUser: number;
  readonly perUser: number;
  readonly perKey: number;
}

interface Gateway {
  readonly admit: () => AdmittedUpload;
}

/** A gateway's admission of clients at one address, with a connection of its own to the Redis that all share. */
async function admission(limits: Partial<Limits> = {}, blocks = nobodyBlocked): Promise<Gateway> {
  const { maxUploads = 10, maxUploadsPerUser = 10, perUser = 0, perKey = 0 } = limits;
  const manner = { ...failFast, commandTimeout: 300 };
  const connection = parts.use(connectRedis(new Secret(redis.url), manner, createLog('test', 'silent')));
  await waitUntil('a connection', 5000, async () => (await connection.ping()) === 'PONG');
  const rates = new UploadRates(connection, { perUser, perKey }, (error) => uncounted.push(error));
  const queues = new ProbeQueues({ backlog: async (kind) => ({ ...backlogs[kind], left: 0 }) }, probeTimeoutMs);
  const perAddress = { anonymousPerAddress: 100, failuresPerMinutePerAddress: 0 };
  const bounds = { maxUploads, maxUploadsPerUser, ...perAddress, unverifiedBufferBytes: 1000 };
  const one = new Admission(bounds, rates, queues, blocks, () => {});
  return { admit: () => one.admit('192.0.2.1', 'unverified') };
}

async function refusalOf(promise: Promise<unknown>): Promise<Pick<Refusal, 'reason' | 'retryAfterSeconds'>> {
  return promise.then(
    () => expect.fail('it was let in'),
    (refusal: Refusal) => refusal,
  );
}

test('an upload beyond the slots is refused until one of the others has ended', async () => {
  const { admit } = bound(await admission({ maxUploads: 2 }));
  const first = admit();
  using _second = admit();
  expect(admit).toThrow(expect.objectContaining({ reason: 'overloaded', retryAfterSeconds: 5 }));
  first[Symbol.dispose]();
  using _third = admit();
  expect(admit).toThrow('overloaded');
});

test.each([
  ['is as old as it may be', 'let in', { waiting: 1, oldestMs: 5000 }],
  ['has too old a job', 'overloaded', { waiting: 1, oldestMs: 5001 }],
  ['is as long as it may be', 'let in', { waiting: 2500, oldestMs: 0 }],
  ['is too long', 'overloaded', { waiting: 2501, oldestMs: 0 }],
])('where the queue of photos %s, a photo is %s', async (_what, outcome, photos) => {
  backlogs = { ...backlogs, photos };
  using admitted = (await admission()).admit();
  const told = await admitted
    .withMedia(await samplePhoto('png', { width: 8, height: 8 }))
    .catch(({ reason }) => reason);
  expect(told ?? 'let in').toBe(outcome);
});

test('where both queues are too old, what needs neither is let in: a JPEG, and no media at all', async () => {
  const old = { waiting: 3, oldestMs: 5001 };
  backlogs = { photos: old, videos: old };
  using admitted = (await admission()).admit();
  await admitted.withMedia(await samplePhoto('jpg', { width: 8, height: 8 }));
  await admitted.withMedia(Buffer.from('no media at all'));
});

test('where the queue of videos is too old, a video is refused by its first bytes, and a photo is not', async () => {
  backlogs = { ...backlogs, videos: { waiting: 3, oldestMs: 5001 } };
  using admitted = (await admission()).admit();
  await admitted.withMedia(await samplePhoto('png', { width: 8, height: 8 }));
  const video = await sampleVideo('mp4', { width: 64, height: 48 });
  expect(await refusalOf(admitted.withMedia(video))).toMatchObject({ reason: 'overloaded' });
});

test('a user may have so many uploads at once, by provider and subject', async () => {
  const { admit } = bound(await admission({ maxUploadsPerUser: 2 }));
  using first = admit();
  using other1 = admit();
  using elsewhere = admit();
  using third = admit();
  await first.byCaller(caller);
  {
    using second = admit();
    expect(await second.byCaller(caller)).toBe(caller);
    await other1.byCaller(other);
    await elsewhere.byCaller(samePersonElsewhere);
    expect(await refusalOf(third.byCaller(caller))).toMatchObject({
      reason: 'too_many_requests',
      retryAfterSeconds: 5,
    });
  }
  await third.byCaller(caller);
});

test('a verdict that comes after the upload has ended takes no slot', async () => {
  const { admit } = bound(await admission({ maxUploadsPerUser: 1 }));
  const ended = admit();
  ended[Symbol.dispose]();
  await expect(ended.byCaller(caller)).rejects.toThrow(ReferenceError);
  using next = admit();
  await next.byCaller(caller);
});

test('two gateways count the uploads of a user together, and say how long the minute still lasts', async () => {
  const gateways = [await admission({ perUser: 3 }), await admission({ perUser: 3 })] as const;
  for (const gateway of [gateways[0], gateways[1], gateways[0]]) {
    using upload = gateway.admit();
    await upload.byCaller(caller);
  }
  for (const gateway of gateways) {
    using upload = gateway.admit();
    const { reason, retryAfterSeconds } = await refusalOf(upload.byCaller(caller));
    expect(reason).toBe('too_many_requests');
    expect(retryAfterSeconds).toBeGreaterThan(55);
    expect(retryAfterSeconds).toBeLessThanOrEqual(60);
    await upload.byCaller(other);
  }
  for (const key of (await redis.command('KEYS', 'echodrop:uploads-of-user*')).split('\n')) {
    expect(key).not.toContain(caller.subject);
    await redis.command('PEXPIRE', key, '1200');
  }
  using late = await gateways[1].admit();
  expect(await refusalOf(late.byCaller(caller))).toMatchObject({ retryAfterSeconds: 2 });
});

test('an API key has a rate of its own', async () => {
  using upload = await (await admission({ perKey: 1 })).admit();
  await upload.fromApplication('one');
  await upload.fromApplication('another');
  expect(await refusalOf(upload.fromApplication('one'))).toMatchObject({ reason: 'too_many_requests' });
});

test.each(['freeze', 'kill'] as const)(
  'where Redis is gone (%s) nobody is counted, and nobody waits long',
  async (how) => {
    const one = await admission({ perUser: 1, perKey: 1 });
    using upload = one.admit();
    await redis[how]();
    const started = performance.now();
    try {
      for (let i = 0; i < 2; i += 1) {
        await upload.byCaller(caller);
        await upload.fromApplication('one');
      }
      expect(performance.now() - started).toBeLessThan(2000);
      expect(uncounted).toHaveLength(4);
    } finally {
      await redis.thaw();
      await redis.restart();
    }
  },
);

function bound(one: Gateway) {
  return { admit: () => one.admit() };
}

test('who is blocked while their upload runs is refused when its form is complete', async () => {
  const blocked = new Set<string>();
  const requireUser = ({ subject }: typeof caller) => {
    if (blocked.has(subject)) throw new Refusal('caller_blocked');
  };
  const running = await admission({}, { requireUser, requireApplication: () => {} });
  using upload = await running.admit();
  await upload.byCaller(caller);
  blocked.add(caller.subject);
  expect(await refusalOf(upload.fromApplication('app'))).toMatchObject({ reason: 'caller_blocked' });
});
