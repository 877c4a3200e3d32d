import { createHmac } from 'node:crypto';
import type { Credentials } from '@echodrop/contracts/verification';
import { mia, type StandInProvider, says, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics';
import { connectRedis, impatient } from '@echodrop/service/redis';
import { Secret } from '@echodrop/service/secret';
import { type RunningRedis, startRedis } from '@echodrop/testkit/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { VerifierEvents } from './events.ts';
import { IdentityProviders } from './identity-provider.ts';
import { KnownProviders } from './known-providers.ts';
import { VerdictCache } from './verdict-cache.ts';
import { Verifier } from './verify.ts';

const log = createLog('auth-verifier', 'silent');
const secret = new Secret('a secret of this test');

let redis: RunningRedis;
let connection: Redis & AsyncDisposable;
let parts: AsyncDisposableStack;
let standIn: StandInProvider;
let providers: IdentityProviders;
let metrics: Metrics;
let events: VerifierEvents;
let verifier: Verifier;

beforeAll(async () => {
  redis = await startRedis();
  connection = connectRedis(new Secret(redis.url), { ...impatient, commandTimeout: 500 }, log);
});

beforeEach(async () => {
  await waitUntil('an empty cache', 5000, async () => (await connection.flushall()) === 'OK');
  parts = new AsyncDisposableStack();
  standIn = parts.use(await startStandIn());
  providers = parts.use(new IdentityProviders({ timeoutMs: 1000, userIdSecret: secret, failed: () => {} }));
  metrics = new Metrics('auth-verifier');
  events = new VerifierEvents(log, metrics);
  verifier = verifierFor([standIn]);
});

afterEach(() => parts.disposeAsync());

afterAll(async () => {
  await connection[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

function verifierFor(standIns: readonly StandInProvider[], verifiedSeconds = 60, keySecret = secret): Verifier {
  const known = new KnownProviders(standIns.map(({ provider }) => provider));
  const cache = new VerdictCache(connection, keySecret, { verifiedSeconds, refusedSeconds: 10 });
  return new Verifier(known, cache, providers, events);
}

function echo(authorization = 'OAuth oauth_token="hunter2"'): Credentials {
  return { version: 2, provider: standIn.provider.advertised, authorization };
}

const secrets = {
  version: 1,
  consumerToken: 'ck &=+ü',
  consumerSecret: "c's(!*)",
  oauthToken: '12345-t%2B',
  oauthSecret: 't s&',
} as const;

test('a verified caller is remembered: the second question is answered by the cache', async () => {
  const first = await verifier.verify(echo());
  expect(first).toMatchObject({ outcome: 'verified', caller: { userId: 1059182745930317825n, screenName: 'mia' } });
  expect(await verifier.verify(echo())).toEqual(first);
  expect(standIn.questions).toHaveLength(1);
  const { text } = await metrics.exposition();
  expect(text).toMatch(/echodrop_verifications_total\{outcome="verified",source="provider".*\} 1/);
  expect(text).toMatch(/echodrop_verifications_total\{outcome="verified",source="cache".*\} 1/);
});

test.each([
  ['verified', mia, 60],
  ['refused', says(401), 10],
])('%s is remembered for its time', async (outcome, behaviour, seconds) => {
  standIn.behaviour = behaviour;
  expect(await verifier.verify(echo())).toMatchObject({ outcome });
  const [key = ''] = await connection.keys('*');
  expect(await connection.ttl(key)).toBe(seconds);
  await verifier.verify(echo());
  expect(standIn.questions).toHaveLength(1);
  // As if its time were over.
  await connection.del(key);
  await verifier.verify(echo());
  expect(standIn.questions).toHaveLength(2);
});

test('that a provider could not say is never remembered', async () => {
  standIn.behaviour = says(500);
  expect(await verifier.verify(echo())).toMatchObject({ outcome: 'provider_unavailable' });
  expect(await connection.keys('*')).toEqual([]);
  standIn.behaviour = mia;
  expect(await verifier.verify(echo())).toMatchObject({ outcome: 'verified' });
});

test('with a lifetime of 0 nothing verified is remembered', async () => {
  const forgetful = verifierFor([standIn], 0);
  await forgetful.verify(echo());
  await forgetful.verify(echo());
  expect(standIn.questions).toHaveLength(2);
  expect(await connection.keys('*')).toEqual([]);
});

test('many askers at once are one question to the provider', async () => {
  standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const verdicts = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(echo())));
  expect(new Set(verdicts.map(({ outcome }) => outcome))).toEqual(new Set(['verified']));
  expect(standIn.questions).toHaveLength(1);
  await Promise.all([verifier.verify(echo('OAuth other')), verifier.verify(echo('OAuth another'))]);
  expect(standIn.questions).toHaveLength(3);
});

test('many askers at once of a provider that fails are one question, and the next asks again', async () => {
  standIn.behaviour = says(500);
  await Promise.all(Array.from({ length: 50 }, () => verifier.verify(echo())));
  expect(standIn.questions).toHaveLength(1);
  await verifier.verify(echo());
  expect(standIn.questions).toHaveLength(2);
});

test('the cache knows no credential, and any difference between credentials is another entry', async () => {
  const second = parts.use(await startStandIn());
  const both = verifierFor([standIn, second]);
  const asked: Credentials[] = [
    echo('OAuth a'),
    echo('OAuth a '),
    echo('OAuth A'),
    { ...echo('OAuth a'), provider: second.provider.advertised } as Credentials,
    secrets,
    { ...secrets, consumerToken: 'x' },
    { ...secrets, consumerSecret: 'x' },
    { ...secrets, oauthToken: 'x' },
    { ...secrets, oauthSecret: 'x' },
    { ...secrets, oauthToken: secrets.oauthSecret, oauthSecret: secrets.oauthToken },
    { ...secrets, consumerToken: `${secrets.consumerToken}","x` },
  ];
  for (const credentials of asked) await both.verify(credentials);
  expect(standIn.questions.length + second.questions.length).toBe(asked.length);
  const keys = await connection.keys('*');
  expect(keys).toHaveLength(asked.length);
  const everything = [...keys, ...(await connection.mget(keys))].join('\n');
  for (const word of ['OAuth', 'ck', "c's", '12345-t', 't s&']) expect(everything).not.toContain(word);
  for (const key of keys) expect(key).toMatch(/^verdict:1:[0-9a-f]{64}$/);
  // Version 1 names no provider: the same secrets at another one are another entry.
  await verifierFor([second]).verify(secrets);
  expect(await connection.keys('*')).toHaveLength(asked.length + 1);
  // The hash is keyed: with another secret nothing is found.
  await verifierFor([standIn, second], 60, new Secret('another secret')).verify(echo('OAuth a'));
  expect(await connection.keys('*')).toHaveLength(asked.length + 2);
});

test.each(['{', '{"outcome":"maybe"}', '{"outcome":"verified"}', ''])(
  'a cache that holds %j is no help and no harm',
  async (text) => {
    await verifier.verify(echo());
    const [key = ''] = await connection.keys('*');
    await connection.set(key, text);
    expect(await verifier.verify(echo())).toMatchObject({ outcome: 'verified' });
    expect(standIn.questions).toHaveLength(2);
  },
);

test.each([
  ['another scheme', (address: string) => address.replace('http:', 'https:')],
  ['upper case', (address: string) => address.toUpperCase()],
  ['an upper-case scheme', (address: string) => address.replace('http', 'HTTP')],
  ['no port', (address: string) => address.replace(/:\d+/, '')],
  ['a zero before the port', (address: string) => address.replace(/:(\d+)/, ':0$1')],
  ['another name of the host', (address: string) => address.replace('127.0.0.1', 'localhost')],
  ['a short form of the host', (address: string) => address.replace('127.0.0.1', '127.1')],
  ['the host as a number', (address: string) => address.replace('127.0.0.1', '2130706433')],
  ['a user', (address: string) => address.replace('//', '//user@')],
  ['backslashes', (address: string) => address.replaceAll('/', '\\')],
  ['a dot segment', (address: string) => address.replace('/1/', '/./1/')],
  ['a way up and back', (address: string) => address.replace('/1/', '/1/../1/')],
  ['an encoded letter', (address: string) => address.replace('verify', '%76erify')],
  ['a slash at its end', (address: string) => `${address}/`],
  ['a query', (address: string) => `${address}?`],
  ['a fragment', (address: string) => `${address}#`],
  ['a space before', (address: string) => ` ${address}`],
  ['a space after', (address: string) => `${address} `],
  ['a tab within', (address: string) => address.replace('verify', 'ver\tify')],
  ['a line end', (address: string) => `${address}\n`],
  ['a NUL', (address: string) => `${address}\0`],
  ['quotes', (address: string) => `"${address}"`],
  ['its beginning alone', (address: string) => address.slice(0, -1)],
  ['two of them', (address: string) => `${address}, ${address}`],
  ['nothing', () => ''],
  ['a word of JavaScript', () => '__proto__'],
])('an address with %s is unknown, and nobody is asked', async (_, trick) => {
  const provider = trick(standIn.provider.advertised);
  expect(provider).not.toBe(standIn.provider.advertised);
  expect(await verifier.verify({ version: 2, provider, authorization: 'OAuth a' })).toEqual({
    outcome: 'provider_unknown',
  });
  expect(standIn.questions).toEqual([]);
});

test.each(['', 'Bearer x', 'Basic eDp5', 'OAuth2 x', 'OAuthx', ' OAuth x', 'Digest a="OAuth"'])(
  "the scheme of %j is not the provider's: refused, and it is not asked",
  async (authorization) => {
    expect(await verifier.verify(echo(authorization))).toEqual({ outcome: 'refused' });
    expect(standIn.questions).toEqual([]);
  },
);

test.each(['OAuth x', 'oauth x', 'OAUTH x', 'OAuth\tx', 'OAuth'])('the provider judges %j', async (authorization) => {
  expect(await verifier.verify(echo(authorization))).toMatchObject({ outcome: 'verified' });
});

test('version 1 where no provider takes signed requests is provider_unknown', async () => {
  expect(await verifierFor([]).verify(secrets)).toEqual({ outcome: 'provider_unknown' });
});

// RFC 3986, as RFC 5849 section 3.6 asks for it; not the library that signs.
function percent(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^A-Za-z0-9\-._~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
}

test('version 1 signs a GET of the advertised address of the first provider, its query included', async () => {
  const advertised = 'https://api.example/1/verify.json';
  const first = parts.use(await startStandIn(`${advertised}?skip=a%20b&skip=%C3%BC`));
  expect(await verifierFor([first, standIn]).verify(secrets)).toMatchObject({ outcome: 'verified' });
  expect(standIn.questions).toEqual([]);

  const header = /^authorization: OAuth (.*)$/m.exec(first.questions.join())?.[1] ?? '';
  const sent = new Map([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
  const signature = decodeURIComponent(sent.get('oauth_signature') ?? '');
  expect(sent.get('oauth_consumer_key')).toBe(percent(secrets.consumerToken));
  expect(sent.get('oauth_token')).toBe(percent(secrets.oauthToken));
  expect(sent.get('oauth_signature_method')).toBe('HMAC-SHA1');
  expect(Math.abs(Number(sent.get('oauth_timestamp')) - Date.now() / 1000)).toBeLessThan(60);

  for (const name of ['realm', 'oauth_signature']) sent.delete(name);
  const normalized = [...sent, ['skip', 'a%20b'], ['skip', '%C3%BC']].map(([name, value]) => `${name}=${value}`).sort();
  const base = ['GET', percent(advertised), percent(normalized.join('&'))].join('&');
  const key = `${percent(secrets.consumerSecret)}&${percent(secrets.oauthSecret)}`;
  expect(signature).toBe(createHmac('sha1', key).update(base).digest('base64'));
});

test('version 1 is remembered too, and every question has a nonce of its own', async () => {
  await verifier.verify(secrets);
  await verifier.verify(secrets);
  expect(standIn.questions).toHaveLength(1);
  await connection.flushall();
  await verifier.verify(secrets);
  const nonces = standIn.questions.map((head) => /oauth_nonce="(.*?)"/.exec(head)?.[1]);
  expect(new Set(nonces).size).toBe(2);
});

test.each([
  ['hangs', () => redis.freeze(), () => redis.thaw()],
  ['is down', () => redis.kill(), () => redis.restart()],
])('a cache that %s costs about a second and no verdict, and is used again when it is back', async (_, stop, goOn) => {
  await stop();
  for (const authorization of ['OAuth first', 'OAuth second']) {
    const begin = performance.now();
    expect(await verifier.verify(echo(authorization))).toMatchObject({ outcome: 'verified' });
    expect(performance.now() - begin).toBeLessThan(1500);
  }
  await goOn();
  await waitUntil('the cache', 5000, async () => {
    const before = standIn.questions.length;
    await verifier.verify(echo('OAuth third'));
    return standIn.questions.length === before;
  });
});
