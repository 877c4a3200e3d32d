import { join } from 'node:path';
import { VerificationClient } from '@echodrop/contracts/verification-client';
import { respondWith, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { freePorts } from '@echodrop/testkit/free-ports';
import { patienceMs, patientSettings, patientSignal } from '@echodrop/testkit/patience';
import { patientCache } from '@echodrop/testkit/servers/patient-cache';
import { startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { expect, test } from 'vitest';

test('the process verifies, works without its cache, logs no credentials and stops', async () => {
  await using redis = await startRedis();
  await using standIn = await startStandIn();
  const ports = await freePorts(['verifier', 'ops']);
  const secret = 'a secret of this test';
  const service = execa(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: {
      PORT: `${ports.verifier}`,
      OPS_PORT: `${ports.ops}`,
      LOG_LEVEL: 'trace',
      REDIS_URL: patientCache(redis),
      PROVIDER_TIMEOUT_MS: patientSettings.PROVIDER_TIMEOUT_MS,
      VERDICT_TTL_SECONDS: '34',
      VERDICT_REUSE: 'retry',
      VERIFIER_SECRET: secret,
      CACHE_KEY_SECRET: secret,
      USER_ID_SECRET: secret,
      IDENTITY_PROVIDERS: standIn.provider.advertised,
    },
    reject: false,
  });
  let log = '';
  service.stdout.on('data', (chunk) => {
    log += chunk;
  });
  const ops = (path: string) => fetch(`http://127.0.0.1:${ports.ops}${path}`);
  await waitUntil('readiness', async () => (await ops('/readyz')).ok);

  const address = `http://127.0.0.1:${ports.verifier}`;
  await using client = new VerificationClient({ address, secret: [new Secret(secret)], deadlineMs: patienceMs });
  const verify = (token: string, clientAddress = '192.0.2.1') =>
    client.verify(
      {
        credentials: {
          version: 2,
          provider: standIn.provider.advertised,
          authorization: `OAuth oauth_token="${token}"`,
        },
        clientAddress,
      },
      patientSignal(),
    );
  expect(await client.knownProviders()).toEqual([standIn.provider.advertised]);
  const began = performance.now();
  expect(await verify('hunter2')).toMatchObject({ outcome: 'verified', caller: { userId: 1059182745930317825n } });
  expect(await verify('hunter2')).toMatchObject({ outcome: 'verified' });
  expect(standIn.requests).toHaveLength(1);
  standIn.behaviour = respondWith(401);
  expect(await verify('hunter2-refused')).toEqual({ outcome: 'refused' });
  const keys = (await redis.command('keys', '{echodrop:3}:verdict:*')).split('\n');
  const lives = await Promise.all(keys.map(async (key) => Number(await redis.command('pttl', key))));
  const elapsed = performance.now() - began;
  for (const [n, life] of lives.toSorted((a, b) => a - b).entries()) {
    const full = [10_000, 34_000][n] ?? 0;
    expect(life).toBeLessThanOrEqual(full);
    expect(life).toBeGreaterThanOrEqual(full - elapsed);
  }
  standIn.behaviour = respondWith(500, 'hunter2');
  expect(await verify('hunter2-too')).toEqual({ outcome: 'provider_unavailable', retryAfterSeconds: 10 });
  standIn.behaviour = respondWith(401);
  await redis.kill();
  expect(await verify('hunter2-still')).toEqual({ outcome: 'refused' });
  expect((await ops('/readyz')).status).toBe(200);
  expect(await (await ops('/metrics')).text()).toContain('echodrop_provider_seconds_bucket');

  await waitUntil('a log line about Redis', async () => log.includes('Redis unreachable'));
  standIn.behaviour = respondWith(503);
  for (let n = 0; n < 10; n += 1) await verify(`hunter2-${n}`, `198.51.100.${n}`);
  await waitUntil('a log line about the circuit', async () => log.includes('Identity provider circuit opened'));
  service.kill();
  const { exitCode, stderr } = await service;
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(log).toContain('provider responded with 500');
  expect(log.match(/.*VERDICT_REUSE was removed/g)).toEqual([expect.stringContaining('"level":"warn"')]);
  for (const word of ['hunter2', secret]) expect(log).not.toContain(word);
});
