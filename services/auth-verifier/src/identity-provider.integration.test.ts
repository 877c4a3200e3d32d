import {
  type Behaviour,
  mia,
  type StandInProvider,
  says,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdentityProviders } from './identity-provider.ts';

const timeoutMs = 400;
const authorization = 'OAuth oauth_token="hunter2"';
const unavailable = { outcome: 'provider_unavailable', retryAfterSeconds: 10 };

let standIn: StandInProvider;
let providers: IdentityProviders;
let failures: string[];

beforeEach(async () => {
  standIn = await startStandIn();
  failures = [];
  const failed = (_: unknown, error: unknown) => failures.push((error as Error).message);
  providers = new IdentityProviders({ timeoutMs, userIdSecret: new Secret('a secret of this test'), failed });
});

afterEach(async () => {
  vi.useRealTimers();
  await providers[Symbol.asyncDispose]();
  await standIn[Symbol.asyncDispose]();
});

const ask = () => providers.ask(standIn.provider, authorization);

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

test.each<[string, Behaviour]>([
  ['401', says(401)],
  ['401 with a body that is no JSON', says(401, '<html>')],
  ['403', says(403, '{"errors":[]}')],
])('%s is refused', async (_, behaviour) => {
  standIn.behaviour = behaviour;
  expect(await ask()).toEqual({ outcome: 'refused' });
  expect(failures).toEqual([]);
});

const partOf =
  (whole: string): Behaviour =>
  (socket) =>
    socket.write(whole);
const broken: [string, Behaviour][] = [
  ['200 without an id', says(200, '{"screen_name":"mia"}')],
  ['200 without a name', says(200, '{"id":1}')],
  ['200 with broken JSON', says(200, '{"id":1,"screen_name":"mia"')],
  ['200 with nothing', says(200)],
  ['204', says(204)],
  ['206', says(206, '{"id":1,"screen_name":"mia"}')],
  ['400', says(400)],
  ['404', says(404)],
  ['429', says(429, '', 'Retry-After: 60\r\n')],
  ['500', says(500)],
  ['500 with a caller', says(500, '{"id":1,"screen_name":"mia"}')],
  ['a body over 64 KiB', says(200, `{"id":1,"screen_name":"mia","x":"${'x'.repeat(65_536)}"}`)],
  ['headers over 16 KiB', says(200, '{"id":1,"screen_name":"mia"}', `X: ${'x'.repeat(20_000)}\r\n`)],
  ['no headers', () => {}],
  ['half the headers', partOf('HTTP/1.1 200 OK\r\nContent-')],
  ['half the body', partOf('HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{"id":1')],
  ['half the body and the end', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 28\r\n\r\n{"id":1')],
  ['garbage', partOf('\0\xff\x16\x03 no HTTP at all\r\n\r\n')],
  ['the end', (socket) => socket.end()],
  ['a reset', (socket) => socket.resetAndDestroy()],
];

test.each(broken)(
  '%s is provider_unavailable, in time and with a reason that tells no credential',
  async (_, behaviour) => {
    standIn.behaviour = behaviour;
    const begin = performance.now();
    expect(await ask()).toEqual(unavailable);
    expect(performance.now() - begin).toBeLessThan(timeoutMs + 400);
    expect(failures).toEqual([expect.not.stringContaining('hunter2')]);
    // Asked once, whatever happened.
    expect(standIn.questions).toHaveLength(1);
    standIn.behaviour = mia;
    expect(await ask()).toMatchObject({ outcome: 'verified' });
  },
);

test('a body that trickles is given up at the deadline for the whole exchange', async () => {
  standIn.behaviour = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n');
    const trickle = setInterval(() => socket.write(' '), 50);
    socket.on('close', () => clearInterval(trickle));
  };
  const begin = performance.now();
  expect(await ask()).toEqual(unavailable);
  expect(performance.now() - begin).toBeLessThan(timeoutMs + 400);
});

test('a provider that is not there is provider_unavailable', async () => {
  await standIn[Symbol.asyncDispose]();
  expect(await ask()).toEqual(unavailable);
});

test.each([301, 302, 303, 307, 308])('a redirect (%i) is provider_unavailable and not followed', async (status) => {
  await using canary = await startStandIn();
  standIn.behaviour = says(status, '', `Location: ${canary.provider.upstream}\r\n`);
  expect(await ask()).toEqual(unavailable);
  expect(canary.questions).toEqual([]);
});

test.each([
  'OAuth realm="https://a/",oauth_token="b"',
  'OAuth   oauth_token = "b" ,oauth_nonce="c",',
  'oauth\toauth_token="a%2Bb+c"\t,',
  `OAuth realm="${Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join('')}"`,
  'OAuth !#$%&\'()*+-./:;<=>?@[\\]^_`{|}~"',
  `OAuth oauth_token="${'x'.repeat(8000)}"`,
])('the header is handed on byte for byte: %.40j', async (header) => {
  await providers.ask(standIn.provider, header);
  const lines = standIn.questions.join().split('\r\n');
  expect(lines.filter((line) => /^authorization:/i.test(line))).toEqual([`authorization: ${header}`]);
});

test('the question is a GET of the address that is really asked, with the Host that is advertised', async () => {
  await using elsewhere = await startStandIn('https://api.example:8443/1/account/verify.json?a=b');
  const verdict = await providers.ask(elsewhere.provider, authorization);
  expect(verdict).toMatchObject({ caller: { provider: 'https://api.example:8443/1/account/verify.json?a=b' } });
  const [requestLine, ...headers] = elsewhere.questions.join().trimEnd().split('\r\n');
  expect(requestLine).toBe('GET /1/verify.json HTTP/1.1');
  expect(headers).toContain('host: api.example:8443');
});

async function asked(times: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let i = 0; i < times; i += 1) outcomes.push((await ask()).outcome);
  return outcomes;
}

test('after ten failures in a row a provider is left alone, and asked again after ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  await using other = await startStandIn();
  standIn.behaviour = says(500);
  await asked(10);
  expect(standIn.questions).toHaveLength(10);

  standIn.behaviour = mia;
  expect(new Set(await asked(5))).toEqual(new Set(['provider_unavailable']));
  expect(standIn.questions).toHaveLength(10);
  expect(failures).toHaveLength(10);
  expect(await providers.ask(other.provider, authorization)).toMatchObject({ outcome: 'verified' });

  vi.setSystemTime(Date.now() + 10_000);
  expect(await asked(2)).toEqual(['verified', 'verified']);
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

test('nine failures in a row do not matter', async () => {
  standIn.behaviour = says(500);
  await asked(9);
  standIn.behaviour = says(401);
  await asked(1);
  standIn.behaviour = says(500);
  await asked(9);
  standIn.behaviour = mia;
  expect(await asked(1)).toEqual(['verified']);
});

test.each<[string, Behaviour]>([
  ['400', says(400)],
  ['404', says(404)],
  ['401', says(401)],
  ['a user without a name', says(200, '{"id":1}')],
])('what a hostile request can bring about (%s) shuts out nobody', async (_, behaviour) => {
  standIn.behaviour = behaviour;
  await asked(30);
  standIn.behaviour = mia;
  expect(await asked(1)).toEqual(['verified']);
});
