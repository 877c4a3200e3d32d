import type { Credentials, Verdict } from '@echodrop/contracts/verification';
import { providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import {
  type Behaviour,
  mia,
  respondWith,
  type StandInProvider,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, expect, test, vi } from 'vitest';
import { echo, fourSecrets, type Replica, replicaTests } from '../replica.fixture.ts';

const proof = 'OAuth oauth_token="hunter2"';
const older = new Secret('an older secret!');
const newer = new Secret('a newer secret!!');

const its = replicaTests();

afterEach(() => void vi.useRealTimers());

type Settings = Parameters<typeof its.replica>[0];

function replicas(count: number, settings: Settings = {}): Promise<Replica[]> {
  return Promise.all(Array.from({ length: count }, () => its.replica(settings)));
}

function verify({ verifier }: Replica, authorization = proof): Promise<Verdict> {
  return verifier.verify(echo(its.standIn.provider, authorization));
}

function outcomes(verdicts: readonly Verdict[]): string[] {
  return [...new Set(verdicts.map(({ outcome }) => outcome))];
}

// A slow provider that accepts a nonce once.
function onceOnly(afterMs: number): void {
  const seen = new Set<string>();
  its.standIn.behaviour = (socket) => {
    const nonce = its.standIn.requests.at(-1)?.match(/^authorization: .*$/m)?.[0] ?? '';
    const respond = seen.has(nonce) ? respondWith(401) : mia;
    seen.add(nonce);
    setTimeout(() => respond(socket), afterMs);
  };
}

/** Holds the request that the provider gets next. The returned function responds to it. */
function holdRequest(): (behaviour: Behaviour) => void {
  const held = Promise.withResolvers<Parameters<Behaviour>[0]>();
  const later = its.standIn.behaviour;
  its.standIn.behaviour = (socket) => {
    its.standIn.behaviour = later;
    held.resolve(socket);
  };
  return (behaviour) => void held.promise.then(behaviour);
}

test('200 requests with one proof at ten verifiers cause one query', async () => {
  onceOnly(200);
  const ten = await replicas(10);
  const verdicts = await Promise.all(Array.from({ length: 200 }, (_, index) => verify(ten[index % 10] as Replica)));
  expect(outcomes(verdicts)).toEqual(['verified']);
  expect(its.standIn.requests).toHaveLength(1);
});

test('a slow reader gets the verdict of another verifier without a query', async () => {
  its.standIn.behaviour = mia;
  const quick = await its.replica();
  for (const [slowMs, providerMs] of [
    [10, 30],
    [30, 30],
    [60, 30],
    [60, 150],
    [90, 160],
  ] as const) {
    const slow = await its.replica({ slowMs });
    onceOnly(providerMs);
    its.standIn.requests.length = 0;
    const fresh = `OAuth ${crypto.randomUUID()}`;
    expect(outcomes(await Promise.all([verify(slow, fresh), verify(quick, fresh)]))).toEqual(['verified']);
    expect(its.standIn.requests).toHaveLength(1);
  }
  expect(await quick.redis.keys('{echodrop:3}:lease:*')).toEqual([]);
});

test.each<[string, (bearer: StandInProvider['provider']) => Credentials]>([
  ['signed header', () => echo(its.standIn.provider, proof).credentials],
  ['bearer token', (bearer) => echo(bearer, 'Bearer token').credentials],
  ['four secrets of version 1', () => fourSecrets],
])('a repeated %s gets the verdict of the first, from whatever address', async (_, credentialsAt) => {
  const respond = respondWith(200, '{"id":"5","screen_name":"mia","username":"mia"}');
  its.standIn.behaviour = (socket) => setTimeout(() => respond(socket), 100);
  const bearer = {
    ...its.standIn.provider,
    advertised: 'https://social.example/verify',
    profile: providerProfiles.mastodon,
  };
  const two = await replicas(2, { providers: [its.standIn.provider, bearer] });
  const credentials = credentialsAt(bearer);
  const verifyFrom = (clientAddress: string) =>
    Promise.all(two.map(({ verifier }) => verifier.verify({ credentials, clientAddress })));
  expect(outcomes(await verifyFrom('192.0.2.1'))).toEqual(['verified']);
  expect(outcomes(await verifyFrom('198.51.100.7'))).toEqual(['verified']);
  expect(its.standIn.requests).toHaveLength(1);
});

test("does not repeat another verifier's query without an outcome: the nonce may be used up", async () => {
  const respond = holdRequest();
  const five = await replicas(5);
  const verdicts = Promise.all(five.map((each) => verify(each)));
  await waitUntil('a look of each', async () => five.every(({ looks }) => looks > 0));
  respond(respondWith(500));
  expect(outcomes(await verdicts)).toEqual(['provider_unavailable']);
  expect(its.standIn.requests).toHaveLength(1);
  // A later request does.
  expect(await verify(five[4] as Replica)).toMatchObject({ outcome: 'verified' });
});

test('waits for a dead verifier no longer than the provider timeout', async () => {
  const respond = holdRequest();
  // The lease of the dead verifier is long, so that it does not end before the other one looks.
  const gone = await its.replica({ timeoutMs: patienceMs });
  const lost = verify(gone);
  await waitUntil('the query of the dead verifier', async () => its.standIn.requests.length === 1);
  gone.redis.disconnect();
  const [lease = ''] = (await its.redis.command('keys', '{echodrop:3}:lease:*')).split('\n');
  expect(Number(await its.redis.command('pttl', lease))).toSatisfy((ms) => ms > 0 && ms <= patienceMs + 500);
  const alive = await its.replica({ timeoutMs: 500 });
  const begin = performance.now();
  expect(await verify(alive)).toMatchObject({ outcome: 'provider_unavailable' });
  expect(performance.now() - begin).toBeLessThan(patienceMs / 3);
  expect((await alive.metrics.exposition()).text).toContain('outcome="provider_unavailable",source="undecided"');
  expect(its.standIn.requests).toHaveLength(1);
  respond(respondWith(500));
  await lost;
});

test('a refusal after a query without an outcome is unclear, not refused', async () => {
  const [first, second] = (await replicas(2)) as [Replica, Replica];
  its.standIn.behaviour = respondWith(500);
  expect(await verify(first)).toMatchObject({ outcome: 'provider_unavailable' });
  its.standIn.behaviour = respondWith(401);
  expect(await verify(second)).toMatchObject({ outcome: 'provider_unavailable' });
  expect(await verify(second, 'OAuth another')).toEqual({ outcome: 'refused' });
  its.standIn.behaviour = mia;
  expect(await verify(second)).toMatchObject({ outcome: 'verified' });
});

test('a request that was not sent does not clear the mark of one that was', async () => {
  const unreachable = { ...its.standIn.provider, upstream: 'http://127.0.0.1:1/' };
  const [first, cut] = [await its.replica(), await its.replica({ providers: [unreachable] })] as const;
  its.standIn.behaviour = respondWith(500);
  expect(await verify(first)).toMatchObject({ outcome: 'provider_unavailable' });
  expect(await verify(cut)).toMatchObject({ outcome: 'provider_unavailable' });
  its.standIn.behaviour = respondWith(401);
  expect(await verify(first)).toMatchObject({ outcome: 'provider_unavailable' });
});

test('a refusal counts if the earlier request was certainly not sent', async () => {
  const unreachable = { ...its.standIn.provider, upstream: 'http://127.0.0.1:1/' };
  expect(await verify(await its.replica({ providers: [unreachable] }))).toMatchObject({
    outcome: 'provider_unavailable',
  });
  its.standIn.behaviour = respondWith(401);
  expect(await verify(await its.replica())).toEqual({ outcome: 'refused' });
});

test('a bearer token is refused even after a request without an outcome', async () => {
  const provider = { ...its.standIn.provider, profile: providerProfiles.mastodon };
  const one = await its.replica({ providers: [provider] });
  its.standIn.behaviour = respondWith(500);
  expect(await verify(one, 'Bearer a')).toMatchObject({ outcome: 'provider_unavailable' });
  its.standIn.behaviour = respondWith(401);
  expect(await verify(one, 'Bearer a')).toEqual({ outcome: 'refused' });
});

test('a late refusal does not replace a verdict', async () => {
  const [first, second] = (await replicas(2)) as [Replica, Replica];
  const respond = holdRequest();
  const pending = verify(first);
  await waitUntil('the request', async () => its.standIn.requests.length === 1);
  // As if the lease had been evicted.
  for (const key of await first.redis.keys('{echodrop:3}:*')) await first.redis.del(key);
  const refuse = holdRequest();
  const late = verify(second);
  await waitUntil('the second request', async () => its.standIn.requests.length === 2);
  respond(mia);
  expect(await pending).toMatchObject({ outcome: 'verified' });
  // Its verdict is in the cache.
  await first.verifier[Symbol.asyncDispose]();
  its.standIn.behaviour = respondWith(401);
  refuse(its.standIn.behaviour);
  await late;
  expect(await verify(second)).toMatchObject({ outcome: 'verified' });
});

test('a waiting verifier does not query the provider if the cache goes down', async () => {
  const two = (await replicas(2)) as [Replica, Replica];
  const respond = holdRequest();
  const pending = verify(two[0]);
  await waitUntil('the request', async () => its.standIn.requests.length === 1);
  const waiting = verify(two[1]);
  await waitUntil('a look', async () => two[1].looks > 0);
  await its.redis.kill();
  expect(await waiting).toMatchObject({ outcome: 'provider_unavailable' });
  respond(mia);
  expect(await pending).toMatchObject({ outcome: 'verified' });
  expect(its.standIn.requests).toHaveLength(1);
  await its.redis.restart();
});

test('without the cache, each verifier sends one query', async () => {
  const two = await replicas(2);
  await its.redis.kill();
  its.standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const verdicts = await Promise.all([...two, ...two].map((each) => verify(each)));
  expect(outcomes(verdicts)).toEqual(['verified']);
  expect(its.standIn.requests).toHaveLength(2);
  await its.redis.restart();
});

test('with a lifetime of 0, verifiers do not wait for each other', async () => {
  its.standIn.behaviour = (socket) => setTimeout(() => mia(socket), 100);
  const two = await replicas(2, { verifiedSeconds: 0 });
  expect(outcomes(await Promise.all(two.map((each) => verify(each))))).toEqual(['verified']);
  expect(its.standIn.requests).toHaveLength(2);
});

test.each([
  ['one accepts the new secret', [older], [older, newer]],
  ['one has completed it', [newer, older], [newer]],
] as const)('verifiers share verdicts during a key rotation: %s', async (_, first, second) => {
  onceOnly(100);
  const two = [await its.replica({ keySecret: first }), await its.replica({ keySecret: second })] as const;
  expect(outcomes(await Promise.all(two.map((each) => verify(each))))).toEqual(['verified']);
  expect(its.standIn.requests).toHaveLength(1);
  for (const [queried, other] of [two, two.toReversed()] as [Replica, Replica][]) {
    const fresh = `OAuth ${crypto.randomUUID()}`;
    await verify(queried, fresh);
    expect(await verify(other, fresh)).toMatchObject({ outcome: 'verified' });
  }
  expect(its.standIn.requests).toHaveLength(3);
  await Promise.all(two.map(({ verifier }) => verifier[Symbol.asyncDispose]()));
  for (const kind of ['lease', 'pending']) expect(await two[0].redis.keys(`{echodrop:3}:${kind}:*`)).toEqual([]);
});

test.each(['', '{', '{}', '{"outcome":"verified"}', '{"until":9e15,"since":0,"verdict":{"outcome":"maybe"}}'])(
  'ignores an invalid value: %j',
  async (value) => {
    const one = await its.replica();
    await verify(one);
    const [key = ''] = await one.redis.keys('{echodrop:3}:verdict:*');
    await one.redis.set(key, value);
    expect(await verify(one)).toMatchObject({ outcome: 'verified' });
    expect(its.standIn.requests).toHaveLength(2);
    // A valid entry replaced it.
    await verify(one);
    expect(its.standIn.requests).toHaveLength(2);
  },
);

/** Number of forged verdicts that a verifier found. */
async function forgedAt({ metrics }: Replica): Promise<number> {
  const { text } = await metrics.exposition();
  return Number(/^echodrop_forged_entries_total\{.*kind="verdict".*\} (\d+)$/m.exec(text)?.[1]);
}

test.each<[string, (verdict: string) => string]>([
  ['with another byte', (verdict) => verdict.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
  ['with another seal', (verdict) => verdict.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))],
  ['without its seal', (verdict) => verdict.slice(verdict.indexOf(' ') + 1)],
])('a verdict forged in Redis %s is ignored and counted', async (_, rewritten) => {
  const one = await its.replica();
  expect(await verify(one)).toMatchObject({ caller: { screenName: 'mia' } });
  const [key = ''] = await one.redis.keys('{echodrop:3}:verdict:*');
  const verdict = (await one.redis.get(key)) ?? '';
  expect(rewritten(verdict)).not.toBe(verdict);
  await one.redis.set(key, rewritten(verdict));
  expect(await forgedAt(one)).toBe(0);
  expect(await verify(one)).toMatchObject({ caller: { screenName: 'mia' } });
  expect(its.standIn.requests).toHaveLength(2);
  expect(await forgedAt(one)).toBe(1);
});

test('a verdict in Redis names no user', async () => {
  const one = await its.replica();
  expect(await verify(one)).toMatchObject({ caller: { screenName: 'mia' } });
  const [key = ''] = await one.redis.keys('{echodrop:3}:verdict:*');
  const verdict = (await one.redis.get(key)) ?? '';
  for (const encoding of ['utf8', 'base64'] as const) {
    const shown = Buffer.from(verdict.slice(verdict.indexOf(' ') + 1), encoding).toString('latin1');
    expect(shown.length).toBeGreaterThan(100);
    expect(shown).not.toMatch(/mia|1059182745930317825/);
  }
});

test('a sealed verdict does not apply to another proof', async () => {
  const one = await its.replica();
  await verify(one, 'OAuth of mia');
  const [verified = ''] = await one.redis.keys('{echodrop:3}:verdict:*');
  its.standIn.behaviour = respondWith(401);
  expect(await verify(one, 'OAuth of an attacker')).toEqual({ outcome: 'refused' });
  const keys = await one.redis.keys('{echodrop:3}:verdict:*');
  const refused = keys.find((key) => key !== verified) ?? '';
  await one.redis.set(refused, (await one.redis.get(verified)) ?? '');
  expect(await verify(one, 'OAuth of an attacker')).toEqual({ outcome: 'refused' });
  expect(await forgedAt(one)).toBe(1);
});

test('all verifiers query a forgotten user again', async () => {
  const two = await replicas(2);
  const [first, second] = two as [Replica, Replica];
  const other = respondWith(200, '{"id":7,"screen_name":"noa"}');
  await Promise.all(['OAuth a', 'OAuth b'].map((each) => verify(first, each)));
  its.standIn.behaviour = other;
  await verify(first, 'OAuth of somebody else');
  expect(its.standIn.requests).toHaveLength(3);

  await first.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  its.standIn.behaviour = respondWith(403);
  for (const each of two) expect(await verify(each, 'OAuth a')).toEqual({ outcome: 'refused' });
  expect(await verify(second, 'OAuth b')).toEqual({ outcome: 'refused' });
  expect(await verify(second, 'OAuth of somebody else')).toMatchObject({ caller: { screenName: 'noa' } });
});

test('forgetting a user invalidates the verdict of a running query', async () => {
  const one = await its.replica();
  let respond = () => {};
  its.standIn.behaviour = (socket) => {
    respond = () => mia(socket);
  };
  const pending = verify(one);
  await waitUntil('the request', async () => its.standIn.requests.length === 1);
  await one.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  respond();
  await pending;
  its.standIn.behaviour = respondWith(403);
  expect(await verify(one)).toEqual({ outcome: 'refused' });
});

test('caches a forgotten user again after the next query', async () => {
  const two = await replicas(2);
  const [first, second] = two as [Replica, Replica];
  await first.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  onceOnly(100);
  expect(outcomes(await Promise.all([...two, ...two].map((each) => verify(each))))).toEqual(['verified']);
  expect(await verify(second)).toMatchObject({ outcome: 'verified' });
  expect(its.standIn.requests).toHaveLength(1);
});

test('a request after a user was forgotten does not get the verdict of an earlier query', async () => {
  const one = await its.replica();
  const responses: (() => void)[] = [];
  its.standIn.behaviour = (socket) => responses.push(() => (responses.length === 1 ? mia : respondWith(403))(socket));
  const before = verify(one);
  await waitUntil('the request', async () => responses.length === 1);
  await one.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  const after = verify(one);
  responses[0]?.();
  expect(await before).toMatchObject({ outcome: 'verified' });
  await waitUntil('another request', async () => responses.length === 2);
  responses[1]?.();
  expect(await after).toEqual({ outcome: 'refused' });
});

test('remembers forgotten users for longer than any verdict lives', async () => {
  const one = await its.replica({ verifiedSeconds: 1 });
  await one.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  const [key = ''] = await one.redis.keys('{echodrop:3}:forgotten:*');
  expect(await one.redis.ttl(key)).toBeGreaterThan(3600);
});

test('applies its own lifetime to verdicts of other verifiers', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const [long, short] = [
    await its.replica({ verifiedSeconds: 3600 }),
    await its.replica({ verifiedSeconds: 1 }),
  ] as const;
  await verify(long);
  vi.setSystemTime(Date.now() + 10_000);
  await verify(long);
  expect(its.standIn.requests).toHaveLength(1);
  await verify(short);
  expect(its.standIn.requests).toHaveLength(2);
});

test('an evicted count of forgotten users revives no verdict', async () => {
  const one = await its.replica();
  const subjects = Array.from({ length: 300 }, (_, index) => `${index}`);
  await Promise.all(subjects.map((subject) => one.verifier.forget({ provider: 'https://a.example/', subject })));
  await verify(one);
  await one.redis.del('{echodrop:3}:forgets');
  await one.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  its.standIn.behaviour = respondWith(403);
  expect(await verify(one)).toEqual({ outcome: 'refused' });
});

test('a verdict from before the cache returned can be forgotten', async () => {
  const one = await its.replica();
  let respond = () => {};
  its.standIn.behaviour = (socket) => {
    respond = () => mia(socket);
  };
  await its.redis.kill();
  const pending = verify(one);
  await waitUntil('the request', async () => its.standIn.requests.length === 1);
  await its.redis.restart();
  await waitUntil('the cache', async () => one.redis.status === 'ready');
  await one.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  respond();
  await pending;
  its.standIn.behaviour = respondWith(403);
  expect(await verify(one)).toEqual({ outcome: 'refused' });
});

test('forgetting a user during a key rotation applies to verifiers with either key', async () => {
  const secrets = [[older], [newer], [older, newer], [newer, older]] as const;
  const ends = await Promise.all(secrets.map((keySecret) => its.replica({ keySecret })));
  for (const each of ends) await verify(each);
  await ends.at(-1)?.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1059182745930317825' });
  its.standIn.behaviour = respondWith(403);
  for (const each of ends) expect(await verify(each)).toEqual({ outcome: 'refused' });
});

test('throws if a user could not be forgotten', async () => {
  const one = await its.replica();
  await its.redis.kill();
  await expect(one.verifier.forget({ provider: its.standIn.provider.advertised, subject: '1' })).rejects.toThrow();
  await its.redis.restart();
});
