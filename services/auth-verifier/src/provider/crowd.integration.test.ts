import { mia, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { expect, test } from 'vitest';
import { IdentityProviders } from './query-providers.ts';

const events = { providerFailed: () => {}, circuitOpened: () => {}, circuitClosed: () => {} };

test.each([
  ['an address', () => '192.0.2.66'],
  ['an IPv6 /64', (n: number) => `2001:db8:1:2::${n.toString(16)}`],
])('%s with made-up tokens gets at most a quarter of the queries, and others are verified', async (_, addressOf) => {
  await using standIn = await startStandIn();
  await using providers = new IdentityProviders({
    timeoutMs: patienceMs,
    userIdSecret: new Secret('of this test'),
    events,
  });
  const query = (token: string, address: string) =>
    providers.query(standIn.provider, `OAuth oauth_token="${token}"`, address);
  await query('mia', '192.0.2.66');

  const held = Promise.withResolvers<void>();
  standIn.behaviour = (socket) => void held.promise.then(() => mia(socket));
  const crowd = Array.from({ length: 256 }, (_, n) => query(`made up ${n}`, addressOf(n)));
  await waitUntil('the queries', async () => standIn.requests.length >= 1 + 64);
  const verdict = { outcome: 'provider_unavailable', retryAfterSeconds: 1 };
  expect(await Promise.all(crowd.slice(64))).toEqual(
    Array(192).fill({ verdict, source: 'busy', canHaveArrived: false }),
  );
  expect(standIn.requests).toHaveLength(1 + 64);

  standIn.behaviour = mia;
  expect((await query('noa', '198.51.100.1')).verdict.outcome).toBe('verified');
  // A verified token counts for its user.
  expect((await query('mia', addressOf(0))).verdict.outcome).toBe('verified');
  held.resolve();
  await Promise.all(crowd);
  expect((await query('later', addressOf(0))).verdict.outcome).toBe('verified');
});
