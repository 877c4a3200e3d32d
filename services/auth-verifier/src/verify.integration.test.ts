import type { Credentials, Verdict, VerificationRequest } from '@echodrop/contracts/verification';
import {
  mia,
  respondWith,
  type StandInProvider,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { readAuthorization } from '@echodrop/oauth/authorization-header';
import { signatureOf } from '@echodrop/oauth/signed-get';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { beforeEach, expect, test, vi } from 'vitest';
import { echo as echoAt, fourSecrets, type Replica, replicaTests } from './replica.fixture.ts';

const secrets: VerificationRequest = { credentials: fourSecrets, clientAddress: '192.0.2.1' };

const its = replicaTests();
let replica: Replica;
let connection: Replica['redis'];

beforeEach(async () => {
  replica = await its.replica();
  connection = replica.redis;
});

async function verifierFor(standIns: readonly StandInProvider[], settings: Parameters<typeof its.replica>[0] = {}) {
  const { verifier } = await its.replica({ providers: standIns.map(({ provider }) => provider), ...settings });
  return verifier;
}

function verify(request = echo()): Promise<Verdict> {
  return replica.verifier.verify(request);
}

function echo(authorization = 'OAuth oauth_token="hunter2"'): VerificationRequest {
  return echoAt(its.standIn.provider, authorization);
}

test.each([
  ['verified', mia, 60],
  ['refused', respondWith(401), 10],
])('caches %s for its lifetime', async (outcome, behaviour, seconds) => {
  its.standIn.behaviour = behaviour;
  const began = performance.now();
  expect(await verify()).toMatchObject({ outcome });
  const [key = ''] = await connection.keys('{echodrop:3}:verdict:*');
  const remainingMs = await connection.pttl(key);
  expect(remainingMs).toBeLessThanOrEqual(seconds * 1000);
  // Redis rounds times to milliseconds.
  expect(remainingMs).toBeGreaterThanOrEqual(seconds * 1000 - (performance.now() - began) - 1);
  await verify();
  expect(its.standIn.requests).toHaveLength(1);
  // Simulates its expiry.
  await connection.del(key);
  await verify();
  expect(its.standIn.requests).toHaveLength(2);
});

test('caches nothing verified with a lifetime of 0', async () => {
  const forgetful = await verifierFor([its.standIn], { verifiedSeconds: 0 });
  await forgetful.verify(echo());
  await forgetful.verify(echo());
  expect(its.standIn.requests).toHaveLength(2);
  expect(await connection.keys('{echodrop:3}:verdict:*')).toEqual([]);
});

test('concurrent requests share one query', async () => {
  its.standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const verdicts = await Promise.all(Array.from({ length: 50 }, () => verify()));
  expect(new Set(verdicts.map(({ outcome }) => outcome))).toEqual(new Set(['verified']));
  expect(its.standIn.requests).toHaveLength(1);
  await Promise.all([verify(echo('OAuth other')), verify(echo('OAuth another'))]);
  expect(its.standIn.requests).toHaveLength(3);
});

test('concurrent requests share one failed query, and the next request retries', async () => {
  its.standIn.behaviour = respondWith(500);
  await Promise.all(Array.from({ length: 50 }, () => verify()));
  expect(its.standIn.requests).toHaveLength(1);
  await verify();
  expect(its.standIn.requests).toHaveLength(2);
});

test('the cache contains no credentials, and different credentials have different entries', async () => {
  const second = its.parts.use(await startStandIn());
  const both = await verifierFor([its.standIn, second]);
  const authorization = 'OAuth a';
  const requests: Credentials[] = [
    ...['OAuth a', 'OAuth a ', 'OAuth A'].map(
      (each) => ({ ...echo().credentials, authorization: each }) as Credentials,
    ),
    { version: 2, provider: second.provider.advertised, authorization },
    fourSecrets,
    { ...fourSecrets, consumerToken: 'x' },
    { ...fourSecrets, consumerSecret: 'x' },
    { ...fourSecrets, oauthToken: 'x' },
    { ...fourSecrets, oauthSecret: 'x' },
    { ...fourSecrets, oauthToken: fourSecrets.oauthSecret, oauthSecret: fourSecrets.oauthToken },
    { ...fourSecrets, consumerToken: `${fourSecrets.consumerToken}","x` },
  ];
  for (const credentials of requests) await both.verify({ credentials, clientAddress: '192.0.2.1' });
  await both[Symbol.asyncDispose]();
  expect(its.standIn.requests.length + second.requests.length).toBe(requests.length);
  const keys = await connection.keys('{echodrop:3}:verdict:*');
  expect(keys).toHaveLength(requests.length);
  const everything = [...keys, ...(await connection.mget(keys))].join('\n');
  for (const word of ['OAuth', 'ck &', "c's", '12345-t', 't s&', '192.0.2.1']) expect(everything).not.toContain(word);
  for (const key of keys) expect(key).toMatch(/^\{echodrop:3\}:verdict:[0-9a-f]{64}$/);
  // Version 1 names no provider, so the same secrets at another provider are another entry.
  const another = await verifierFor([second]);
  await another.verify(secrets);
  await another[Symbol.asyncDispose]();
  expect(await connection.keys('{echodrop:3}:verdict:*')).toHaveLength(requests.length + 1);
  // The hash is keyed, so another secret finds nothing.
  const rekeyed = await verifierFor([its.standIn, second], { keySecret: [new Secret('another secret')] });
  await rekeyed.verify(echo('OAuth a'));
  await rekeyed[Symbol.asyncDispose]();
  expect(await connection.keys('{echodrop:3}:verdict:*')).toHaveLength(requests.length + 2);
});

test('an unknown address and an unsupported scheme are not queried', async () => {
  const provider = `${its.standIn.provider.advertised}/`;
  const unknown = { credentials: { version: 2, provider, authorization: 'OAuth a' }, clientAddress: '' } as const;
  expect(await verify(unknown)).toEqual({ outcome: 'provider_unknown' });
  expect(await verify(echo('Bearer x'))).toEqual({ outcome: 'refused', cause: 'unsupported_scheme' });
  expect(its.standIn.requests).toEqual([]);
});

test('version 1 is provider_unknown if no provider supports signed requests', async () => {
  expect(await (await verifierFor([])).verify(secrets)).toEqual({ outcome: 'provider_unknown' });
});

test('version 1 signs a GET of the advertised address of the first provider, including its query', async () => {
  const address = 'https://api.example/1/verify.json?skip=a%20b&skip=%C3%BC';
  const first = its.parts.use(await startStandIn(address));
  expect(await (await verifierFor([first, its.standIn])).verify(secrets)).toMatchObject({ outcome: 'verified' });
  expect(its.standIn.requests).toEqual([]);

  const header = /^authorization: (.*?)\r?$/m.exec(first.requests.join())?.[1] ?? '';
  const { oauth_signature: signature, ...parameters } = Object.fromEntries(readAuthorization(header) ?? []);
  const { consumerToken, consumerSecret, oauthToken, oauthSecret: tokenSecret } = fourSecrets;
  expect(parameters).toMatchObject({ oauth_consumer_key: consumerToken, oauth_token: oauthToken });
  expect(Math.abs(Number(parameters['oauth_timestamp']) - Date.now() / 1000)).toBeLessThan(60);
  const signed = { method: 'GET', address, parameters };
  expect(signature).toBe(signatureOf(signed, { consumerSecret, tokenSecret }));
});

test('caches version 1 too, and signs each query with a new nonce', async () => {
  await verify(secrets);
  await verify(secrets);
  expect(its.standIn.requests).toHaveLength(1);
  await connection.flushall();
  await verify(secrets);
  const nonces = its.standIn.requests.map((head) => /oauth_nonce="(.*?)"/.exec(head)?.[1]);
  expect(new Set(nonces).size).toBe(2);
});

test.each([
  ['hangs', () => its.redis.freeze(), () => its.redis.thaw()],
  ['is down', () => its.redis.kill(), () => its.redis.restart()],
])(
  'works without a cache that %s, with about a second of delay, and uses it again afterwards',
  async (_, stop, goOn) => {
    const hasty = await its.replica({ cacheTimeoutMs: 500 });
    const commands = vi.spyOn(hasty.redis, 'sendCommand');
    await stop();
    for (const authorization of ['OAuth first', 'OAuth second']) {
      commands.mockClear();
      const begin = performance.now();
      expect(await hasty.verifier.verify(echo(authorization))).toMatchObject({ outcome: 'verified' });
      // Without its limit, a command would end after `patienceMs`.
      expect(performance.now() - begin).toBeLessThan(patienceMs / 3);
      // A look, and the verdict.
      expect(commands.mock.calls.length).toBeLessThanOrEqual(2);
    }
    await goOn();
    await waitUntil('the cache', async () => {
      const before = its.standIn.requests.length;
      await hasty.verifier.verify(echo('OAuth third'));
      return its.standIn.requests.length === before;
    });
  },
);

test('metrics distinguish the sources of verdicts, by provider', async () => {
  // The circuit does not close meanwhile.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  await verify();
  await verify();
  await verify(echo('Bearer x'));
  its.standIn.behaviour = respondWith(503);
  for (let times = 0; times < 12; times += 1)
    await verify({ ...echo(`OAuth oauth_token="${times}"`), clientAddress: `198.51.100.${times}` });
  const { text } = await replica.metrics.exposition();
  const provider = `provider="${its.standIn.provider.advertised}"`;
  for (const [labels, count] of [
    ['outcome="verified",source="provider"', 1],
    ['outcome="verified",source="cache"', 1],
    ['outcome="rejected",source="unsupported_scheme"', 1],
    ['outcome="provider_unavailable",source="provider"', 10],
    ['outcome="provider_unavailable",source="circuit_open"', 2],
  ] as const)
    expect(text).toContain(`echodrop_verifications_total{${provider},${labels},service="auth-verifier"} ${count}\n`);
  expect(text).toContain(`echodrop_provider_circuit_open{${provider},service="auth-verifier"} 1\n`);
  expect(text).toContain(
    `echodrop_provider_seconds_count{service="auth-verifier",${provider},outcome="provider_unavailable"} 10\n`,
  );
});
