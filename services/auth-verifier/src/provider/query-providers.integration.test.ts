import {
  mia,
  respondWith,
  type StandInProvider,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdentityProviders } from './query-providers.ts';

const authorization = 'OAuth oauth_token="hunter2"';
// provider-behaviour.integration.test.ts tests each cause.
const unavailable = (retryAfterSeconds: number) => ({ outcome: 'provider_unavailable', retryAfterSeconds });

let standIn: StandInProvider;
let providers: IdentityProviders;
let failures: string[];
let news: string[];

beforeEach(async () => {
  standIn = await startStandIn();
  failures = [];
  news = [];
  const events = {
    providerFailed: (_: unknown, error: unknown) => failures.push((error as Error).message),
    circuitOpened: (_: unknown, ms: number) => news.push(`opened for ${ms} ms`),
    circuitClosed: () => news.push('closed'),
  };
  providers = new IdentityProviders({
    timeoutMs: patienceMs,
    waitMs: patienceMs,
    userIdSecret: new Secret('a secret of this test'),
    events,
  });
});

afterEach(async () => {
  vi.useRealTimers();
  await providers[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const verify = async (clientAddress = '192.0.2.1') =>
  (await providers.query(standIn.provider, authorization, clientAddress)).verdict;

test.each([
  'OAuth realm="https://a/",oauth_token="b"',
  'OAuth   oauth_token = "b" ,oauth_nonce="c",',
  'oauth\toauth_token="a%2Bb+c"\t,',
  `OAuth realm="${Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join('')}"`,
  'OAuth !#$%&\'()*+-./:;<=>?@[\\]^_`{|}~"',
  `OAuth oauth_token="${'x'.repeat(8000)}"`,
])('forwards the header byte for byte: %.40j', async (header) => {
  await providers.query(standIn.provider, header, '192.0.2.1');
  const lines = standIn.requests.join().split('\r\n');
  expect(lines.filter((line) => /^authorization:/i.test(line))).toEqual([`authorization: ${header}`]);
});

test('sends a GET to the upstream address with the advertised Host', async () => {
  await using elsewhere = await startStandIn('https://api.example:8443/1/account/verify.json?a=b');
  const { verdict } = await providers.query(elsewhere.provider, authorization, '192.0.2.1');
  expect(verdict).toMatchObject({ caller: { provider: 'https://api.example:8443/1/account/verify.json?a=b' } });
  const [requestLine, ...headers] = elsewhere.requests.join().trimEnd().split('\r\n');
  expect(requestLine).toBe('GET /1/verify.json HTTP/1.1');
  expect(headers).toContain('host: api.example:8443');
});

/** Stops the clock of `performance.now`, and returns a function that advances it. */
function freezeClock(): (ms: number) => void {
  let time = Math.round(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => time);
  return (ms) => {
    time += ms;
  };
}

/** The outcomes of requests from different addresses. */
async function verifyTimes(times: number, firstSender = 0): Promise<string[]> {
  const outcomes: string[] = [];
  for (let i = 0; i < times; i += 1) outcomes.push((await verify(`198.51.100.${firstSender + i}`)).outcome);
  return outcomes;
}

test('opens the circuit of a provider after failures for ten senders, and retries after ten seconds; other providers are queried', async () => {
  const advance = freezeClock();
  await using other = await startStandIn();
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  expect(standIn.requests).toHaveLength(10);

  standIn.behaviour = mia;
  expect(new Set(await verifyTimes(5))).toEqual(new Set(['provider_unavailable']));
  expect(standIn.requests).toHaveLength(10);
  expect(failures).toHaveLength(10);
  expect(await providers.query(other.provider, authorization, '192.0.2.1')).toMatchObject({
    verdict: { outcome: 'verified' },
  });

  expect(news).toEqual(['opened for 10000 ms']);
  advance(10_000);
  expect(await verifyTimes(2)).toEqual(['verified', 'verified']);
  expect(news).toEqual(['opened for 10000 ms', 'closed']);
});

test.each<[string, (i: number) => readonly [header: string, from: string]]>([
  ['address, whatever its tokens', (i: number) => [`OAuth oauth_token="made-up-${i}"`, '192.0.2.1']],
  ['IPv6 network', (i: number) => [`OAuth oauth_token="made-up-${i}"`, `2001:db8::${i}`]],
  ['verified user, whatever their addresses', (i: number) => [authorization, `192.0.2.${i}`]],
])('failures for one %s do not open the circuit', async (_, shown) => {
  await verify();
  standIn.behaviour = respondWith(500);
  for (let i = 0; i < 30; i += 1) await providers.query(standIn.provider, ...shown(i));
  standIn.behaviour = mia;
  expect(await verifyTimes(1)).toEqual(['verified']);
  expect(news).toEqual([]);
});

test('failures for ten verified users behind one address open the circuit', async () => {
  const queryAs = async (user: number) => providers.query(standIn.provider, `OAuth oauth_token="${user}"`, '192.0.2.1');
  for (let user = 1; user <= 10; user += 1) {
    standIn.behaviour = respondWith(200, `{"id":${user},"screen_name":"user${user}"}`);
    await queryAs(user);
  }
  standIn.behaviour = respondWith(500);
  for (let user = 1; user <= 10; user += 1) await queryAs(user);
  expect(news).toEqual(['opened for 10000 ms']);
});

test('a failing provider gets one trial every ten seconds', async () => {
  const advance = freezeClock();
  standIn.behaviour = respondWith(503);
  await verifyTimes(10);
  for (const requests of [11, 12, 13]) {
    advance(10_000);
    await Promise.all([verifyTimes(3), verifyTimes(3)]);
    expect(standIn.requests).toHaveLength(requests);
  }
});

test('a single sender cannot keep the circuit open: after a failed trial it waits ten seconds longer', async () => {
  const advance = freezeClock();
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  advance(10_000);
  await verify('192.0.2.66');
  expect(standIn.requests).toHaveLength(11);
  advance(10_000);
  expect(await verify('192.0.2.66')).toMatchObject({ outcome: 'provider_unavailable', retryAfterSeconds: 10 });
  expect(standIn.requests).toHaveLength(11);
  advance(9999);
  standIn.behaviour = mia;
  expect((await verify()).outcome).toBe('verified');
  expect((await verify('192.0.2.66')).outcome).toBe('verified');
});

test('a single sender finds a recovered provider within twenty seconds', async () => {
  const advance = freezeClock();
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  advance(10_000);
  await verify();
  standIn.behaviour = mia;
  advance(20_000);
  expect((await verify()).outcome).toBe('verified');
});

test('a step of the system clock does not keep the circuit open', async () => {
  const advance = freezeClock();
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  standIn.behaviour = mia;
  expect(await verify()).toEqual(unavailable(10));
  advance(10_000);
  expect((await verify()).outcome).toBe('verified');
});

async function circuitGauge(): Promise<string | undefined> {
  const metrics = new Metrics('auth-verifier');
  providers.registerCircuitMetrics(metrics, [standIn.provider]);
  return /^echodrop_provider_circuit_open\{.*\} (\d)$/m.exec((await metrics.exposition()).text)?.[1];
}

test('a response without a verdict resets the count of failures', async () => {
  const advance = freezeClock();
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  advance(10_000);
  standIn.behaviour = respondWith(400);
  await verifyTimes(1);
  standIn.behaviour = respondWith(500);
  await verifyTimes(9);
  standIn.behaviour = mia;
  expect(await verifyTimes(1)).toEqual(['verified']);
});

test('the metric shows an open circuit, even without further requests', async () => {
  const advance = freezeClock();
  expect(await circuitGauge()).toBe('0');
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  expect(await circuitGauge()).toBe('1');
  advance(9999);
  expect(await circuitGauge()).toBe('1');
  advance(1);
  expect(await circuitGauge()).toBe('0');
});

test('failures for nine senders do not open the circuit', async () => {
  standIn.behaviour = respondWith(500);
  await verifyTimes(9);
  standIn.behaviour = respondWith(401);
  await verifyTimes(1);
  standIn.behaviour = respondWith(500);
  await verifyTimes(9, 9);
  standIn.behaviour = mia;
  expect(await verifyTimes(1)).toEqual(['verified']);
});

test('a rate limit applies to one provider only', async () => {
  await using other = await startStandIn();
  standIn.behaviour = respondWith(429);
  expect(await verify()).toEqual(unavailable(10));
  expect(await providers.query(other.provider, authorization, '192.0.2.1')).toMatchObject({
    verdict: { outcome: 'verified' },
  });
});

test('during a trial, other requests get a verdict at once', async () => {
  const advance = freezeClock();
  standIn.behaviour = respondWith(500);
  await verifyTimes(10);
  advance(10_000);
  let respond = () => {};
  standIn.behaviour = (socket) => {
    respond = () => mia(socket);
  };
  const probe = verify();
  await waitUntil('the request', async () => standIn.requests.length === 11);
  expect(await providers.query(standIn.provider, authorization, '192.0.2.1')).toMatchObject({
    verdict: unavailable(1),
    source: 'circuit_open',
  });
  expect(await circuitGauge()).toBe('1');
  respond();
  expect(await probe).toMatchObject({ outcome: 'verified' });
  standIn.behaviour = mia;
  expect(await verify()).toMatchObject({ outcome: 'verified' });
});
