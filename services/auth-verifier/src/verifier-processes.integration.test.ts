import {
  mia,
  respondWith,
  type StandInProvider,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { patienceMs, patientSignal } from '@echodrop/testkit/patience';
import { patientCache } from '@echodrop/testkit/servers/patient-cache';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { echo } from './replica.fixture.ts';
import { startVerifier, type VerifierProcess } from './verifier-process.fixture.ts';

let parts: AsyncDisposableStack;
let redis: RunningRedis;
let standIn: StandInProvider;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  redis = parts.use(await startRedis());
  standIn = parts.use(await startStandIn());
});

afterEach(() => parts.disposeAsync());

async function verifier(settings: Record<string, string> = {}, knows?: string): Promise<VerifierProcess> {
  const own = { REDIS_URL: patientCache(redis), IDENTITY_PROVIDERS: standIn.provider.advertised, ...settings };
  return parts.use(await startVerifier(own, knows));
}

function verify({ client }: VerifierProcess, token: string, from?: string) {
  const authorization = `OAuth oauth_consumer_key="c", oauth_token="${token}", oauth_timestamp="1", oauth_nonce="${token}"`;
  return client.verify(echo(standIn.provider, authorization, from), patientSignal());
}

test('a user forgotten in one process is queried again by another', async () => {
  const [first, second] = await Promise.all([verifier(), verifier()]);
  expect(await verify(first, 'a')).toMatchObject({ outcome: 'verified' });
  expect(await verify(second, 'a')).toMatchObject({ outcome: 'verified' });
  expect(standIn.requests).toHaveLength(1);
  await first.client.forget({ provider: standIn.provider.advertised, subject: '1059182745930317825' });
  standIn.behaviour = respondWith(403);
  expect(await verify(second, 'a')).toEqual({ outcome: 'refused' });
});

test('rotates both secrets without extra queries or errors', async () => {
  const older = 'an older secret!';
  const newer = 'a newer secret!!';
  const steps = [older, `${older},${newer}`, `${newer},${older}`, newer];
  const processes = await Promise.all(
    steps.map((both, step) => verifier({ CACHE_KEY_SECRET: both, VERIFIER_SECRET: both }, step < 2 ? older : newer)),
  );
  for (const [step, each] of processes.entries()) {
    const next = processes[step + 1];
    if (!next) break;
    expect(await verify(each, `proof of step ${step}`)).toMatchObject({ outcome: 'verified' });
    expect(await verify(next, `proof of step ${step}`)).toMatchObject({ outcome: 'verified' });
  }
  expect(standIn.requests).toHaveLength(3);
});

test('opens and logs the circuit of a failing provider only', async () => {
  const other = parts.use(await startStandIn());
  const entries = [standIn, other].map(({ provider }) => provider.advertised).join();
  const one = await verifier({ IDENTITY_PROVIDERS: entries });
  standIn.behaviour = respondWith(503);
  for (let failures = 0; failures < 10; failures += 1) await verify(one, `${failures}`, `198.51.100.${failures}`);
  standIn.behaviour = mia;
  expect(await verify(one, 'another')).toMatchObject({ outcome: 'provider_unavailable' });
  expect(standIn.requests).toHaveLength(10);
  await expect.poll(() => one.process.output).toContain('Identity provider circuit opened');
  const elsewhere = echo(other.provider, 'OAuth a');
  expect(await one.client.verify(elsewhere, patientSignal())).toMatchObject({ outcome: 'verified' });
});

test('other processes wait for a killed one no longer than the provider timeout', async () => {
  const settings = { PROVIDER_TIMEOUT_MS: '3000' };
  const [killed, other] = await Promise.all([verifier(settings), verifier(settings)]);
  standIn.behaviour = () => {};
  const lost = verify(killed, 'a').catch(() => 'lost');
  await expect.poll(() => standIn.requests.length).toBe(1);
  // The lease of the killed process must not end before the other one looks.
  const lease = await redis.command('keys', '{echodrop:3}:lease:*');
  expect(await redis.command('pexpire', lease, String(patienceMs))).toBe('1');
  const waiting = verify(other, 'a');
  await killed.process.kill();
  expect(await lost).toBe('lost');
  const begin = performance.now();
  expect(await waiting).toMatchObject({ outcome: 'provider_unavailable' });
  expect(performance.now() - begin).toBeLessThan(patienceMs / 3);
  expect(standIn.requests).toHaveLength(1);
});
