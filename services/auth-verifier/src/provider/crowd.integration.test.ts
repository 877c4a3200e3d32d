import { mia, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { IdentityProviders } from './query-providers.ts';

const events = { providerFailed: () => {}, circuitOpened: () => {}, circuitClosed: () => {} };

function providersWaiting(waitMs: number): IdentityProviders {
  return new IdentityProviders({ timeoutMs: patienceMs, waitMs, userIdSecret: new Secret('of this test'), events });
}

test.each([
  ['an address', () => '192.0.2.66'],
  ['an IPv6 /56', (n: number) => `2001:db8:1:${n.toString(16)}::1`],
])(
  '%s with unknown tokens gets at most a quarter of the queries at once, the others wait, and other addresses do not',
  async (_, addressOf) => {
    await using standIn = await startStandIn();
    await using providers = providersWaiting(patienceMs);
    const query = (token: string, address: string) =>
      providers.query(standIn.provider, `OAuth oauth_token="${token}"`, address);
    await query('mia', '192.0.2.66');

    const held = Promise.withResolvers<void>();
    standIn.behaviour = (socket) => void held.promise.then(() => mia(socket));
    const crowd = Array.from({ length: 256 }, (_, n) => query(`unknown ${n}`, addressOf(n)));
    await waitUntil('the queries', async () => standIn.requests.length >= 1 + 64);

    standIn.behaviour = mia;
    expect((await query('noa', '198.51.100.1')).verdict.outcome).toBe('verified');
    // A verified token counts for its user.
    expect((await query('mia', addressOf(0))).verdict.outcome).toBe('verified');
    expect(standIn.requests).toHaveLength(1 + 64 + 2);
    held.resolve();
    const outcomes = (await Promise.all(crowd)).map(({ verdict }) => verdict.outcome);
    expect(new Set(outcomes)).toEqual(new Set(['verified']));
  },
);

test('made-up tokens of five addresses leave queries for others', async () => {
  await using standIn = await startStandIn();
  await using providers = providersWaiting(1);
  const query = (token: string, address: number) =>
    providers.query(standIn.provider, `OAuth oauth_token="${token}"`, `192.0.2.${address}`);
  const held = Promise.withResolvers<void>();
  standIn.behaviour = (socket) => void held.promise.then(() => mia(socket));
  const crowd = Array.from({ length: 500 }, (_, n) => query(`made-up ${n}`, Math.floor(n / 100)));
  await waitUntil('the queries', async () => standIn.requests.length >= 240);
  standIn.behaviour = mia;
  expect((await query('noa', 9)).verdict.outcome).toBe('verified');
  held.resolve();
  await Promise.all(crowd);
});

test('a query without a turn is above the share of its address, unless that has no other, and no failure of the provider', async () => {
  await using standIn = await startStandIn();
  await using providers = providersWaiting(1);
  const query = (token: number, network: number) =>
    providers.query(standIn.provider, `OAuth oauth_token="${token}"`, `2001:db8:${network.toString(16)}::1`);
  const held = Promise.withResolvers<void>();
  standIn.behaviour = (socket) => void held.promise.then(() => mia(socket));
  const running = Array.from({ length: 256 }, (_, n) => query(n, n));
  await waitUntil('the queries', async () => standIn.requests.length === 256);
  expect((await query(256, 0)).verdict).toMatchObject({ outcome: 'overloaded', isOwnShare: true });
  for (const crowded of await Promise.all(Array.from({ length: 20 }, (_, n) => query(257 + n, 257 + n))))
    expect(crowded.verdict).toEqual({ outcome: 'overloaded', retryAfterSeconds: 1, isOwnShare: false });
  held.resolve();
  const outcomes = (await Promise.all(running)).map(({ verdict }) => verdict.outcome);
  expect(new Set(outcomes)).toEqual(new Set(['verified']));
  standIn.behaviour = mia;
  expect((await query(300, 300)).verdict.outcome).toBe('verified');
});

test('a query that gets no turn in time is overloaded, without a request, and leaves its place', async () => {
  await using standIn = await startStandIn();
  await using providers = providersWaiting(1);
  const query = (token: number) => providers.query(standIn.provider, `OAuth oauth_token="${token}"`, '192.0.2.66');
  const held = Promise.withResolvers<void>();
  standIn.behaviour = (socket) => void held.promise.then(() => mia(socket));
  const running = Array.from({ length: 64 }, (_, n) => query(n));
  await waitUntil('the queries', async () => standIn.requests.length === 64);
  const verdict = { outcome: 'overloaded', retryAfterSeconds: 1, isOwnShare: true };
  expect(await query(64)).toEqual({ verdict, source: 'busy', canHaveArrived: false });
  held.resolve();
  await Promise.all(running);
  standIn.behaviour = mia;
  expect((await query(65)).verdict.outcome).toBe('verified');
  expect(standIn.requests).toHaveLength(65);
});
