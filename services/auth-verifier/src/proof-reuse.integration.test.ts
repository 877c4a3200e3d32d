import type { Verdict, VerificationRequest } from '@echodrop/contracts/verification';
import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { respondWith, type StandInProvider, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { echo, fourSecrets, Replica } from './replica.fixture.ts';
import type { Reuse } from './verdicts/proof-keys.ts';

const [home, elsewhere] = ['192.0.2.1', '198.51.100.7'];

let redis: RunningRedis;
let parts: AsyncDisposableStack;
let standIn: StandInProvider;
let bearer: StandInProvider['provider'];

beforeAll(async () => {
  redis = await startRedis();
});

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  // Checks no nonce, and accepts a proof indefinitely.
  standIn = parts.use(await startStandIn());
  standIn.behaviour = respondWith(200, '{"id":"5","screen_name":"mia","username":"mia"}');
  bearer = { ...standIn.provider, advertised: 'https://social.example/verify', profile: providerProfiles.mastodon };
  await redis.command('flushall');
});

afterEach(() => parts.disposeAsync());

afterAll(() => redis[Symbol.asyncDispose]());

async function replica(reuse: Reuse, settings: Partial<ConstructorParameters<typeof Replica>[0]> = {}) {
  const providers = [standIn.provider, bearer];
  const one = parts.use(new Replica({ redisUrl: redis.url, providers, reuse, ...settings }));
  await waitUntil('the cache connection', async () => one.redis.status === 'ready');
  return one;
}

function header(nonce: string): string {
  return `OAuth realm="https://a/", oauth_consumer_key="c", oauth_token="t%2B", oauth_timestamp="1", oauth_nonce="${nonce}"`;
}

function shown(from: string, authorization = header('n1')): VerificationRequest {
  return echo(standIn.provider, authorization, from);
}

async function outcome({ verifier }: Replica, request: VerificationRequest): Promise<Verdict['outcome']> {
  return (await verifier.verify(request)).outcome;
}

test.each<[Reuse, string[], number]>([
  ['ttl', ['verified', 'verified', 'verified'], 1],
  ['retry', ['verified', 'verified', 'refused'], 1],
  ['off', ['verified', 'refused', 'refused'], 1],
])('%s: a proof repeated from the same address, then from another', async (reuse, expected, requests) => {
  const [first, second] = [await replica(reuse), await replica(reuse)];
  const seen = [];
  for (const [one, from] of [
    [first, home],
    [second, home],
    [first, elsewhere],
  ] as const)
    seen.push(await outcome(one, shown(from)));
  expect(seen).toEqual(expected);
  expect(standIn.requests).toHaveLength(requests);
  expect(await outcome(first, shown(elsewhere, header('n2')))).toBe('verified');
});

test.each<[Reuse, string[]]>([
  ['ttl', ['verified', 'verified']],
  ['retry', ['refused', 'verified']],
  ['off', ['refused', 'verified']],
])('%s: a proof in two concurrent requests', async (reuse, expected) => {
  const two = [await replica(reuse), await replica(reuse)] as const;
  const seen = await Promise.all([outcome(two[0], shown(home)), outcome(two[1], shown(elsewhere))]);
  expect(seen.toSorted()).toEqual(expected);
  expect(standIn.requests).toHaveLength(1);
});

test.each<Reuse>(['retry', 'off'])('%s: a proof stays a replay after its verdict has expired', async (reuse) => {
  const one = await replica(reuse);
  await outcome(one, shown(home));
  for (const key of await one.redis.keys('{echodrop:3}:verdict:*')) await one.redis.del(key);
  expect(await outcome(one, shown(elsewhere))).toBe('refused');
  expect((await one.metrics.exposition()).text).toContain('outcome="rejected",source="replay"');
  const [key = ''] = await one.redis.keys('{echodrop:3}:use:*');
  expect(await one.redis.ttl(key)).toBeGreaterThan(23 * 3600);
});

test('retry: after the verdict has expired, the provider decides on a repeat', async () => {
  const one = await replica('retry');
  await outcome(one, shown(home));
  for (const key of await one.redis.keys('{echodrop:3}:verdict:*')) await one.redis.del(key);
  expect(await outcome(one, shown(home))).toBe('verified');
  expect(standIn.requests).toHaveLength(2);
});

test.each<[Reuse, string]>([
  ['retry', 'verified'],
  // Its nonce may be used up, with an unknown outcome.
  ['off', 'refused'],
])('%s: a proof without an outcome is %s when repeated', async (reuse, expected) => {
  const one = await replica(reuse);
  const healthy = standIn.behaviour;
  standIn.behaviour = respondWith(500);
  expect(await outcome(one, shown(home))).toBe('provider_unavailable');
  standIn.behaviour = healthy;
  expect(await outcome(one, shown(home))).toBe(expected);
});

test.each<Reuse>(['retry', 'off'])(
  '%s: a proof that the provider did not receive does not count as used',
  async (reuse) => {
    const unreachable = { ...standIn.provider, upstream: 'http://127.0.0.1:1/' };
    expect(await outcome(await replica(reuse, { providers: [unreachable] }), shown(home))).toBe('provider_unavailable');
    expect(await outcome(await replica(reuse), shown(elsewhere))).toBe('verified');
  },
);

test('retry: a repeat without an outcome does not release the proof', async () => {
  const one = await replica('retry');
  await outcome(one, shown(home));
  for (const key of await one.redis.keys('{echodrop:3}:verdict:*')) await one.redis.del(key);
  standIn.behaviour = respondWith(500);
  expect(await outcome(one, shown(home))).toBe('provider_unavailable');
  expect(await outcome(one, shown(elsewhere))).toBe('refused');
});

test.each<[Reuse, number]>([
  ['ttl', 1],
  ['retry', 2],
  ['off', 3],
])('%s: bearer tokens and secrets are not replays; their repeats query the provider', async (reuse, requests) => {
  const one = await replica(reuse);
  for (const credentials of [echo(bearer, 'Bearer token').credentials, fourSecrets]) {
    const before = standIn.requests.length;
    for (const clientAddress of [home, home, elsewhere])
      expect(await outcome(one, { credentials, clientAddress })).toBe('verified');
    expect(standIn.requests).toHaveLength(before + requests);
  }
});

test.each<Reuse>(['retry', 'off'])('%s: without the cache, the provider decides', async (reuse) => {
  const one = await replica(reuse);
  await redis.kill();
  expect(await outcome(one, shown(home))).toBe('verified');
  expect(await outcome(one, shown(elsewhere))).toBe('verified');
  await redis.restart();
});

test('a proof from before a key rotation stays a replay', async () => {
  const [older, newer] = [new Secret('an older secret!'), new Secret('a newer secret!!')];
  await outcome(await replica('off', { keySecret: [older] }), shown(home));
  expect(await outcome(await replica('off', { keySecret: [newer, older] }), shown(home))).toBe('refused');
});

test('the cache contains neither client address nor nonce', async () => {
  const one = await replica('retry');
  // Long: the seals are Base64, and contain any two characters now and then.
  const nonce = 'nonce-of-the-cache-test';
  await outcome(one, shown(home, header(nonce)));
  const keys = await one.redis.keys('*');
  const everything = [...keys, ...(await one.redis.mget(keys))].join('\n');
  expect(everything).not.toContain(home);
  expect(everything).not.toContain(nonce);
});

test.each([
  ['another realm', (text: string) => text.replace('//a/', '//b/')],
  ['no realm', (text: string) => text.replace(/realm="[^"]*", /, '')],
  ['white space', (text: string) => `${text} `],
  ['a scheme in another case', (text: string) => text.replace('OAuth', 'oAUTH')],
  ['an escape', (text: string) => text.replace('n1', '%6e1')],
  ['an escape in lower case', (text: string) => text.replace('%2B', '%2b')],
  ['an escaped name', (text: string) => text.replace('oauth_nonce', 'oauth%5Fnonce')],
  ['another order', (text: string) => text.replace(/(OAuth )(.*), (oauth_nonce.*)$/, '$1$3, $2')],
  ['another nonce within the realm', (text: string) => `${text.replace('"n1"', '"n2"')}, realm="x, oauth_nonce=n1,"`],
  ['another nonce in a longer name', (text: string) => `${text.replace('"n1"', '"n2"')}, xoauth_nonce="n1"`],
  ['a backslash', (text: string) => text.replace('n1', '\\\\n1')],
  ['another signature', (text: string) => `${text}, oauth_signature="x"`],
])('detects a replay in another spelling: %s', async (_, respelt) => {
  for (const reuse of ['retry', 'off'] as const) {
    await redis.command('flushall');
    const one = await replica(reuse);
    expect(await outcome(one, shown(home))).toBe('verified');
    expect(respelt(header('n1'))).not.toBe(header('n1'));
    expect(await outcome(one, shown(elsewhere, respelt(header('n1'))))).toBe('refused');
  }
});

test.each([
  ['no nonce', 'OAuth oauth_consumer_key="c", oauth_token="t", oauth_timestamp="1"'],
  ['two nonces', `${header('n1')}, oauth_nonce="n2"`],
  ['no parameters', 'OAuth signed'],
])('a header with %s may be a replay: only ttl forwards it', async (_, authorization) => {
  expect(await outcome(await replica('ttl'), shown(home, authorization))).toBe('verified');
  for (const reuse of ['retry', 'off'] as const)
    expect(await outcome(await replica(reuse), shown(home, authorization))).toBe('refused');
});

test('headers that verify no user leave no entries', async () => {
  standIn.behaviour = respondWith(401);
  const one = await replica('off');
  for (let times = 0; times < 20; times += 1) await outcome(one, shown(home, header(`${times}`)));
  expect(await one.redis.keys('{echodrop:3}:use:*')).toEqual([]);
});

test('a late response does not remove a confirmed use', async () => {
  const two = [await replica('retry', { verifiedSeconds: 0 }), await replica('retry', { verifiedSeconds: 0 })] as const;
  const healthy = standIn.behaviour;
  let respond = () => {};
  standIn.behaviour = (socket) => {
    respond = () => respondWith(500)(socket);
  };
  const late = outcome(two[0], shown(home));
  await waitUntil('the request', async () => standIn.requests.length === 1);
  standIn.behaviour = healthy;
  expect(await outcome(two[1], shown(home))).toBe('verified');
  await two[1].verifier[Symbol.asyncDispose]();
  respond();
  expect(await late).toBe('provider_unavailable');
  expect(await outcome(two[1], shown(elsewhere))).toBe('refused');
});

test('a replay during a key rotation does not block the owner', async () => {
  const [older, newer] = [new Secret('an older secret!'), new Secret('a newer secret!!')];
  for (const [first, second] of [
    [older, newer],
    [newer, older],
  ] as const) {
    await redis.command('flushall');
    const [one, both] = [
      await replica('retry', { keySecret: [first] }),
      await replica('retry', { keySecret: [first, second] }),
    ];
    expect(await outcome(one, shown(home))).toBe('verified');
    expect(await outcome(both, shown(elsewhere))).toBe('refused');
    expect(await outcome(both, shown(home))).toBe('verified');
  }
});
