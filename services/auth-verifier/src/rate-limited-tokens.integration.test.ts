import type { Verdict } from '@echodrop/contracts/verification';
import {
  mia,
  respondWith,
  type StandInProvider,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdentityProviders } from './provider/query-providers.ts';

const events = { providerFailed: () => {}, circuitOpened: () => {}, circuitClosed: () => {} };

let standIn: StandInProvider;
let providers: IdentityProviders;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:00Z') });
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  standIn = await startStandIn();
  providers = new IdentityProviders({
    timeoutMs: patienceMs,
    waitMs: patienceMs,
    userIdSecret: new Secret('of this test'),
    events,
  });
});

afterEach(async () => {
  vi.useRealTimers();
  await providers[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

async function verdictOn(authorization: string): Promise<Verdict> {
  return (await providers.query(standIn.provider, authorization, '192.0.2.1')).verdict;
}

function verify(token: string) {
  return verdictOn(`OAuth oauth_nonce="${crypto.randomUUID()}", oauth_token="${token}"`);
}

function limited(retryAfter?: string): void {
  standIn.behaviour = respondWith(429, '', retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`);
}

function later(seconds: number): void {
  vi.advanceTimersByTime(seconds * 1000);
}

function unavailableFor(seconds: number) {
  return { outcome: 'provider_unavailable', retryAfterSeconds: seconds };
}

test.each([
  ['60', 60],
  ['0', 1],
  ['100000', 3600],
  [undefined, 10],
])('a 429 with Retry-After: %s blocks the token for that time', async (retryAfter, seconds) => {
  limited(retryAfter);
  expect(await verify('mia')).toEqual(unavailableFor(seconds));
  standIn.behaviour = mia;
  later(seconds - 0.5);
  expect(await verify('mia')).toEqual(unavailableFor(1));
  expect(standIn.requests).toHaveLength(1);
  later(1);
  expect(await verify('mia')).toMatchObject({ outcome: 'verified' });
});

test('one rate-limited user does not block others', async () => {
  limited('3600');
  await verify('noa');
  for (let times = 0; times < 50; times += 1) expect(await verify('noa')).toEqual(unavailableFor(3600));
  expect((await providers.query(standIn.provider, 'OAuth oauth_token="noa"', '192.0.2.1')).source).toBe(
    'token_rate_limited',
  );
  expect(standIn.requests).toHaveLength(1);
  standIn.behaviour = mia;
  expect(await verify('mia')).toMatchObject({ outcome: 'verified' });
});

async function refuseTenUsers(retryAfter: string): Promise<void> {
  for (let user = 0; user < 10; user += 1) {
    standIn.behaviour = respondWith(200, `{"id":${user},"screen_name":"user${user}"}`);
    await verify(`user ${user}`);
  }
  standIn.requests.length = 0;
  limited(retryAfter);
  for (let user = 0; user < 10; user += 1) await verify(`user ${user}`);
  standIn.behaviour = mia;
}

test('429 for ten users opens the circuit for the time of Retry-After', async () => {
  await refuseTenUsers('60');
  expect(await verify('mia')).toEqual(unavailableFor(60));
  later(59);
  expect(await verify('mia')).toEqual(unavailableFor(1));
  expect(standIn.requests).toHaveLength(10);
  later(1);
  expect(await verify('mia')).toMatchObject({ outcome: 'verified' });
});

test.each([
  ['for no less than ten seconds', '1', 10],
  ['for no more than five minutes', '86400', 300],
])('429 for ten users opens the circuit %s', async (_, retryAfter, seconds) => {
  await refuseTenUsers(retryAfter);
  expect(await verify('mia')).toEqual(unavailableFor(seconds));
  later(seconds);
  expect(await verify('mia')).toMatchObject({ outcome: 'verified' });
});

test.each([
  ['Bearer worn', ['bearer worn', 'BEARER  worn', 'Bearer\tworn ']],
  ['OAuth oauth_token="worn", oauth_nonce="1"', ['OAuth oauth_nonce="2",oauth_token = "%77orn"']],
])('blocks a token in every encoding: %s', async (authorization, respelt) => {
  limited('3600');
  await verdictOn(authorization);
  for (const each of respelt) expect(await verdictOn(each)).toEqual(unavailableFor(3600));
  expect(standIn.requests).toHaveLength(1);
});

test.each([
  ['OAuth realm="a\\\\b", oauth_token="noa"', 'OAuth realm="a\\\\b", oauth_token="mia"'],
  ['OAuth realm="oauth_token", oauth_token="noa"', 'OAuth realm="oauth_token", oauth_token="mia"'],
])('does not block another user whose client sends headers like %s', async (limitedHeader, other) => {
  limited('3600');
  await verdictOn(limitedHeader);
  standIn.behaviour = mia;
  expect(await verdictOn(limitedHeader)).toEqual(unavailableFor(3600));
  expect(await verdictOn(other)).toMatchObject({ outcome: 'verified' });
});

test('blocks several tokens', async () => {
  limited('60');
  await verify('noa');
  await verify('mia');
  standIn.behaviour = mia;
  expect([await verify('noa'), await verify('mia')]).toEqual([unavailableFor(60), unavailableFor(60)]);
});

test('429 for made-up tokens does not block others', async () => {
  limited('3600');
  for (let token = 0; token < 30; token += 1) await verify(`made up ${token}`);
  expect(standIn.requests).toHaveLength(30);
  standIn.behaviour = mia;
  expect(await verify('mia')).toMatchObject({ outcome: 'verified' });
});
