import {
  type Behaviour,
  mia,
  type StandInProvider,
  says,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { Secret } from '@echodrop/service/secret';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { registerCircuitMetrics } from '../circuit-metrics.ts';
import { IdentityProviders } from './identity-provider.ts';

const timeoutMs = 400;
const authorization = 'OAuth oauth_token="hunter2"';
// What is said when a provider could not say, for each of its ways not to: provider-behaviour.integration.test.ts.
const unavailable = (retryAfterSeconds: number) => ({ outcome: 'provider_unavailable', retryAfterSeconds });

let standIn: StandInProvider;
let providers: IdentityProviders;
let failures: string[];
let news: string[];

beforeEach(async () => {
  standIn = await startStandIn();
  failures = [];
  news = [];
  const told = {
    providerFailed: (_: unknown, error: unknown) => failures.push((error as Error).message),
    circuitOpened: (_: unknown, ms: number) => news.push(`left alone for ${ms} ms`),
    circuitClosed: () => news.push('asked again'),
  };
  providers = new IdentityProviders({ timeoutMs, userIdSecret: new Secret('a secret of this test'), told });
});

afterEach(async () => {
  vi.useRealTimers();
  await providers[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const ask = async (clientAddress = '192.0.2.1') =>
  (await providers.ask(standIn.provider, authorization, clientAddress)).verdict;

test('200 with id and name is verified, the id exact', async () => {
  expect(await ask()).toEqual({
    outcome: 'verified',
    caller: {
      provider: standIn.provider.advertised,
      subject: '1059182745930317825',
      userId: 1059182745930317825n,
      screenName: 'mia',
    },
  });
  expect(failures).toEqual([]);
});

test.each([
  'OAuth realm="https://a/",oauth_token="b"',
  'OAuth   oauth_token = "b" ,oauth_nonce="c",',
  'oauth\toauth_token="a%2Bb+c"\t,',
  `OAuth realm="${Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join('')}"`,
  'OAuth !#$%&\'()*+-./:;<=>?@[\\]^_`{|}~"',
  `OAuth oauth_token="${'x'.repeat(8000)}"`,
])('the header is handed on byte for byte: %.40j', async (header) => {
  await providers.ask(standIn.provider, header, '192.0.2.1');
  const lines = standIn.questions.join().split('\r\n');
  expect(lines.filter((line) => /^authorization:/i.test(line))).toEqual([`authorization: ${header}`]);
});

test('the question is a GET of the address that is really asked, with the Host that is advertised', async () => {
  await using elsewhere = await startStandIn('https://api.example:8443/1/account/verify.json?a=b');
  const { verdict } = await providers.ask(elsewhere.provider, authorization, '192.0.2.1');
  expect(verdict).toMatchObject({ caller: { provider: 'https://api.example:8443/1/account/verify.json?a=b' } });
  const [requestLine, ...headers] = elsewhere.questions.join().trimEnd().split('\r\n');
  expect(requestLine).toBe('GET /1/verify.json HTTP/1.1');
  expect(headers).toContain('host: api.example:8443');
});

/** The outcomes of so many questions, each from another address. */
async function asked(times: number, firstSender = 0): Promise<string[]> {
  const outcomes: string[] = [];
  for (let i = 0; i < times; i += 1) outcomes.push((await ask(`198.51.100.${firstSender + i}`)).outcome);
  return outcomes;
}

test('after failures for ten senders in a row a provider is left alone, and asked again after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using other = await startStandIn();
  standIn.behaviour = says(500);
  await asked(10);
  expect(standIn.questions).toHaveLength(10);

  standIn.behaviour = mia;
  expect(new Set(await asked(5))).toEqual(new Set(['provider_unavailable']));
  expect(standIn.questions).toHaveLength(10);
  expect(failures).toHaveLength(10);
  expect(await providers.ask(other.provider, authorization, '192.0.2.1')).toMatchObject({
    verdict: { outcome: 'verified' },
  });

  expect(news).toEqual(['left alone for 10000 ms']);
  vi.setSystemTime(Date.now() + 10_000);
  expect(await asked(2)).toEqual(['verified', 'verified']);
  expect(news).toEqual(['left alone for 10000 ms', 'asked again']);
});

test.each<[string, (i: number) => readonly [header: string, from: string]]>([
  ['address, whatever its tokens', (i: number) => [`OAuth oauth_token="made-up-${i}"`, '192.0.2.1']],
  ['IPv6 network', (i: number) => [`OAuth oauth_token="made-up-${i}"`, `2001:db8::${i}`]],
  ['verified user, whatever their addresses', (i: number) => [authorization, `192.0.2.${i}`]],
])('any number of failures for one %s leave no provider alone', async (_, shown) => {
  await ask();
  standIn.behaviour = says(500);
  for (let i = 0; i < 30; i += 1) await providers.ask(standIn.provider, ...shown(i));
  standIn.behaviour = mia;
  expect(await asked(1)).toEqual(['verified']);
  expect(news).toEqual([]);
});

test('failures for ten verified users behind one address leave a provider alone', async () => {
  const askAs = async (user: number) => providers.ask(standIn.provider, `OAuth oauth_token="${user}"`, '192.0.2.1');
  for (let user = 1; user <= 10; user += 1) {
    standIn.behaviour = says(200, `{"id":${user},"screen_name":"user${user}"}`);
    await askAs(user);
  }
  standIn.behaviour = says(500);
  for (let user = 1; user <= 10; user += 1) await askAs(user);
  expect(news).toEqual(['left alone for 10000 ms']);
});

test('one that still fails is asked once every ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  standIn.behaviour = says(503);
  await asked(10);
  for (const questions of [11, 12, 13]) {
    vi.setSystemTime(Date.now() + 10_000);
    await Promise.all([asked(3), asked(3)]);
    expect(standIn.questions).toHaveLength(questions);
  }
});

test('no sender alone keeps one away that is back: whose question failed asks ten seconds after the others', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  standIn.behaviour = says(500);
  await asked(10);
  vi.setSystemTime(Date.now() + 10_000);
  await ask('192.0.2.66');
  expect(standIn.questions).toHaveLength(11);
  vi.setSystemTime(Date.now() + 10_000);
  expect(await ask('192.0.2.66')).toMatchObject({ outcome: 'provider_unavailable', retryAfterSeconds: 10 });
  expect(standIn.questions).toHaveLength(11);
  vi.setSystemTime(Date.now() + 9999);
  standIn.behaviour = mia;
  expect((await ask()).outcome).toBe('verified');
  expect((await ask('192.0.2.66')).outcome).toBe('verified');
});

test('where one sender alone asks, one that is back is found within twenty seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  standIn.behaviour = says(500);
  await asked(10);
  vi.setSystemTime(Date.now() + 10_000);
  await ask();
  standIn.behaviour = mia;
  vi.setSystemTime(Date.now() + 20_000);
  expect((await ask()).outcome).toBe('verified');
});

async function circuitGauge(): Promise<string | undefined> {
  const metrics = new Metrics('auth-verifier');
  registerCircuitMetrics(metrics, [standIn.provider], providers);
  return /^echodrop_provider_circuit_open\{.*\} (\d)$/m.exec((await metrics.exposition()).text)?.[1];
}

test('one that has answered again, if without a verdict, is left alone only after ten new senders', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  standIn.behaviour = says(500);
  await asked(10);
  vi.setSystemTime(Date.now() + 10_000);
  standIn.behaviour = says(400);
  await asked(1);
  standIn.behaviour = says(500);
  await asked(9);
  standIn.behaviour = mia;
  expect(await asked(1)).toEqual(['verified']);
});

test('that it is left alone is told for as long as it is, also where nobody asks any more', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  expect(await circuitGauge()).toBe('0');
  standIn.behaviour = says(500);
  await asked(10);
  expect(await circuitGauge()).toBe('1');
  vi.setSystemTime(Date.now() + 9999);
  expect(await circuitGauge()).toBe('1');
  vi.setSystemTime(Date.now() + 1);
  expect(await circuitGauge()).toBe('0');
});

test('failures for nine senders in a row do not matter', async () => {
  standIn.behaviour = says(500);
  await asked(9);
  standIn.behaviour = says(401);
  await asked(1);
  standIn.behaviour = says(500);
  await asked(9, 9);
  standIn.behaviour = mia;
  expect(await asked(1)).toEqual(['verified']);
});

test('while it is left alone, callers are told how much longer', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  standIn.behaviour = says(500);
  await asked(10);
  vi.setSystemTime(Date.now() + 7_000);
  expect(await ask()).toEqual(unavailable(3));
});

test('a token that one provider had too much of is asked about at another', async () => {
  await using other = await startStandIn();
  standIn.behaviour = says(429);
  expect(await ask()).toEqual(unavailable(10));
  expect(await providers.ask(other.provider, authorization, '192.0.2.1')).toMatchObject({
    verdict: { outcome: 'verified' },
  });
});

test('that too many ask at once is no failure of the provider', async () => {
  const sockets: Parameters<Behaviour>[0][] = [];
  standIn.behaviour = (socket) => sockets.push(socket);
  await using patient = new IdentityProviders({
    timeoutMs: 10_000,
    userIdSecret: new Secret('of this test'),
    told: { providerFailed: () => {}, circuitOpened: () => {}, circuitClosed: () => {} },
  });
  const all = Array.from({ length: 300 }, (_, index) =>
    patient.ask(standIn.provider, `OAuth oauth_token="${index}"`, '192.0.2.1'),
  );
  const crowded = (await Promise.all(all.slice(256))).map(({ verdict }) => verdict);
  expect(new Set(crowded.map((verdict) => JSON.stringify(verdict)))).toEqual(
    new Set(['{"outcome":"provider_unavailable","retryAfterSeconds":1}']),
  );
  await waitUntil('the questions', 10_000, async () => sockets.length === 256);
  for (const socket of sockets) mia(socket);
  const asked = (await Promise.all(all.slice(0, 256))).map(({ verdict }) => verdict.outcome);
  expect(new Set(asked)).toEqual(new Set(['verified']));
  standIn.behaviour = mia;
  expect((await patient.ask(standIn.provider, authorization, '192.0.2.1')).verdict.outcome).toBe('verified');
});

test('while one question finds out whether a provider is back, others are answered at once', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  standIn.behaviour = says(500);
  await asked(10);
  vi.setSystemTime(Date.now() + 10_000);
  let answer = () => {};
  standIn.behaviour = (socket) => {
    answer = () => mia(socket);
  };
  const probe = ask();
  await waitUntil('the question', 5000, async () => standIn.questions.length === 11);
  expect(await ask()).toEqual({ outcome: 'provider_unavailable', retryAfterSeconds: 1 });
  expect(await circuitGauge()).toBe('1');
  answer();
  expect(await probe).toMatchObject({ outcome: 'verified' });
  expect(await ask()).toMatchObject({ outcome: expect.any(String) });
});
