import type { ProbeKind } from '@echodrop/contracts/probe';
import { createLog } from '@echodrop/service/log';
import { connectRedis, failFast } from '@echodrop/service/redis/redis';
import { redisAt } from '@echodrop/service/redis/redis-at.fixture';
import { patienceMs } from '@echodrop/testkit/patience';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Refusal } from '../response/refusal-error.ts';
import { Admission, type AdmittedUpload } from './admission.ts';
import { Slots } from './slots.ts';
import { UnverifiedMemory } from './unverified-memory.ts';
import { UploadRates } from './upload-rates.ts';

const probeTimeoutMs = 10_000;
const caller = { provider: 'https://example.org/', subject: '12345', userId: 12345n, screenName: 'someone' };
const other = { ...caller, subject: '6789' };
const samePersonElsewhere = { ...caller, provider: 'https://example.net/' };

const parts = new AsyncDisposableStack();
let redis: RunningRedis;
let backlogs: Record<ProbeKind, { waiting: number; oldestMs: number }>;
let bypasses: unknown[];

beforeAll(async () => {
  redis = parts.use(await startRedis());
});
afterAll(() => parts.disposeAsync());
beforeEach(async () => {
  await redis.command('FLUSHALL');
  backlogs = { photos: { waiting: 0, oldestMs: 0 }, videos: { waiting: 0, oldestMs: 0 } };
  bypasses = [];
});

const noBlocks: ConstructorParameters<typeof Admission>[0]['blocks'] = {
  refuseBlockedUser: () => {},
  refuseBlockedApplication: () => {},
};

interface Limits {
  readonly slots: number;
  readonly perUser: number;
  readonly userRate: number;
  readonly keyRate: number;
  readonly commandTimeout: number;
}

/** The admission of a gateway for one client address, with a separate connection to the shared Redis. */
async function admission(limits: Partial<Limits> = {}, blocks = noBlocks): Promise<{ admit: () => AdmittedUpload }> {
  const { slots = 10, perUser = 10, userRate = 0, keyRate = 0, commandTimeout = patienceMs } = limits;
  const options = { ...failFast, connectTimeout: patienceMs, socketTimeout: patienceMs, commandTimeout };
  const connection = parts.use(connectRedis(redisAt(redis.url), options, createLog('test', 'silent')));
  await waitUntil('a connection', async () => (await connection.ping()) === 'PONG');
  const events = { rateLimitBypassed: (error: unknown) => void bypasses.push(error), rateLimited: () => {} };
  const rates = new UploadRates(connection, { perUser: userRate, perKey: keyRate }, events);
  const probes = { backlog: async (kind: ProbeKind) => ({ ...backlogs[kind], unsupported: 0 }) };
  const perAddress = { anonymousPerAddress: 100, failuresPerMinutePerAddress: 1000 };
  const shared = new Slots({ slots, perUser, ...perAddress }, () => {});
  const one = new Admission({ slots: shared, memory: new UnverifiedMemory(0), rates, probes, probeTimeoutMs, blocks });
  return { admit: () => one.admitUpload('192.0.2.1', 'unverified') };
}

async function refusalOf(promise: Promise<unknown>): Promise<Pick<Refusal, 'reason' | 'retryAfterSeconds'>> {
  return promise.then(
    () => expect.fail('it was admitted'),
    (refusal: Refusal) => refusal,
  );
}

test.each([
  ['has a job of the maximum age', 'admitted', { waiting: 1, oldestMs: 5000 }],
  ['has a job above the maximum age', 'overloaded', { waiting: 1, oldestMs: 5001 }],
  ['has the maximum length', 'admitted', { waiting: 2500, oldestMs: 0 }],
  ['is longer than that', 'overloaded', { waiting: 2501, oldestMs: 0 }],
])('if the photo queue %s, a photo is %s', async (_what, outcome, photos) => {
  backlogs = { ...backlogs, photos };
  using admitted = (await admission()).admit();
  const reason = await admitted.admitMedia('png').catch((refusal) => refusal.reason);
  expect(reason ?? 'admitted').toBe(outcome);
});

test('full probe queues do not refuse JPEGs and unknown types, which need no probe', async () => {
  const old = { waiting: 3, oldestMs: 5001 };
  backlogs = { photos: old, videos: old };
  using admitted = (await admission()).admit();
  await admitted.admitMedia('jpg');
  await admitted.admitMedia(undefined);
});

test('a full video queue refuses videos, and no photos', async () => {
  backlogs = { ...backlogs, videos: { waiting: 3, oldestMs: 5001 } };
  using admitted = (await admission()).admit();
  await admitted.admitMedia('png');
  expect(await refusalOf(admitted.admitMedia('mp4'))).toMatchObject({ reason: 'overloaded' });
});

test('concurrent uploads are limited per user, by provider and subject', async () => {
  const { admit } = await admission({ perUser: 2 });
  using first = admit();
  using other1 = admit();
  using elsewhere = admit();
  using third = admit();
  await first.admitCaller(caller);
  {
    using second = admit();
    expect(await second.admitCaller(caller)).toBe(caller);
    await other1.admitCaller(other);
    await elsewhere.admitCaller(samePersonElsewhere);
    expect(await refusalOf(third.admitCaller(caller))).toMatchObject({
      reason: 'too_many_requests',
      retryAfterSeconds: 5,
    });
  }
  await third.admitCaller(caller);
});

test('two gateways share the rate of a user, and send the rest of the minute as Retry-After', async () => {
  const gateways = [await admission({ userRate: 3 }), await admission({ userRate: 3 })] as const;
  let begun = performance.now();
  const expectRestOf = (seconds: number, rest = 0) => {
    expect(rest).toBeGreaterThanOrEqual(seconds - 1 - (performance.now() - begun) / 1000);
    expect(rest).toBeLessThanOrEqual(seconds);
  };
  for (const gateway of [gateways[0], gateways[1], gateways[0]]) {
    using upload = gateway.admit();
    await upload.admitCaller(caller);
  }
  for (const gateway of gateways) {
    using upload = gateway.admit();
    const { reason, retryAfterSeconds } = await refusalOf(upload.admitCaller(caller));
    expect(reason).toBe('too_many_requests');
    expectRestOf(60, retryAfterSeconds);
    await upload.admitCaller(other);
  }
  begun = performance.now();
  for (const key of (await redis.command('KEYS', 'echodrop:uploads-of-user*')).split('\n')) {
    expect(key).not.toContain(caller.subject);
    await redis.command('PEXPIRE', key, '30000');
  }
  using late = gateways[1].admit();
  const { retryAfterSeconds } = await refusalOf(late.admitCaller(caller));
  expectRestOf(30, retryAfterSeconds);
});

test('each API key has its own rate', async () => {
  using upload = (await admission({ keyRate: 1 })).admit();
  await upload.admitApplication('one');
  await upload.admitApplication('another');
  expect(await refusalOf(upload.admitApplication('one'))).toMatchObject({ reason: 'too_many_requests' });
});

test.each(['freeze', 'kill'] as const)('without Redis (%s) uploads are admitted soon, but not counted', async (how) => {
  const one = await admission({ userRate: 1, keyRate: 1, commandTimeout: 100 });
  using upload = one.admit();
  await redis[how]();
  const started = performance.now();
  try {
    for (let i = 0; i < 2; i += 1) {
      await upload.admitCaller(caller);
      await upload.admitApplication('one');
    }
    // Without the limit of a command, each would wait for the connection's: nine times as long.
    expect(performance.now() - started).toBeLessThan(patienceMs / 9);
    expect(bypasses).toHaveLength(4);
  } finally {
    await redis.thaw();
    await redis.restart();
  }
});

test('a user who is blocked during an upload is refused when the form is complete, and the next time at once', async () => {
  const blocked = new Set<string>();
  const refuseBlockedUser = ({ subject }: typeof caller) => {
    if (blocked.has(subject)) throw new Refusal('caller_blocked');
  };
  const running = await admission({}, { ...noBlocks, refuseBlockedUser });
  using upload = running.admit();
  await upload.admitCaller(caller);
  blocked.add(caller.subject);
  expect(await refusalOf(upload.admitApplication('app'))).toMatchObject({ reason: 'caller_blocked' });
  using next = running.admit();
  expect(await refusalOf(next.admitCaller(caller))).toMatchObject({ reason: 'caller_blocked' });
});
