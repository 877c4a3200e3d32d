import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Behaviour,
  respondWith,
  type StandInProvider,
  startStandIn,
} from '@echodrop/identity-provider/stand-in-provider.fixture';
import { signatureOf } from '@echodrop/oauth/signed-get';
import { listen } from '@echodrop/testkit/servers/listen';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runCommand, runCommandProcess } from './admin.fixture.ts';
import { otherExampleCertificate, startTlsStandIn } from './tls-stand-in.fixture.ts';

// The longest that the command accepts.
const timeoutMs = 60_000;
const secrets = {
  PROVIDER_TEST_CONSUMER_KEY: 'marked-key',
  PROVIDER_TEST_CONSUMER_SECRET: 'marked-consumer-secret',
  PROVIDER_TEST_TOKEN: 'marked-token',
  PROVIDER_TEST_TOKEN_SECRET: 'marked-token-secret',
  PROVIDER_TEST_BEARER: 'marked-bearer',
};
/** Settings for a provider that never completes a response. */
const impatient = { ...secrets, PROVIDER_TIMEOUT_MS: '600' };
const userIdSecret = 'a secret of this test';

let standIn: StandInProvider;
let address: string;
beforeEach(async () => {
  standIn = await startStandIn();
  address = standIn.provider.upstream;
});
afterEach(() => standIn[Symbol.asyncDispose]());

/** Runs the command, and checks that it shows no secret and sends few requests, each with its own nonce. */
async function examine(entry: string, env: NodeJS.ProcessEnv = secrets, run = runCommand) {
  standIn.requests.length = 0;
  const ran = await run(['provider-test', ...entry.split(' ')], { PROVIDER_TIMEOUT_MS: `${timeoutMs}`, ...env });
  expect(ran.stdout + ran.stderr).not.toMatch(/marked-|a secret of this test/);
  expect(ran.stderr).toBe(ran.exitCode === 0 ? '' : 'The provider test found faults.');
  expect(standIn.requests.length).toBeLessThanOrEqual(14);
  const nonces = standIn.requests.flatMap((head) => /oauth_nonce="(\w+)"/.exec(head)?.[1] ?? []);
  expect(new Set(nonces).size).toBe(nonces.length);
  return ran;
}

const date = (skewMs = 0) => `Date: ${new Date(Date.now() + skewMs).toUTCString()}\r\n`;
const refuses: Behaviour = (socket) => respondWith(401, '{}', date())(socket);

/** Responds with `accept` to the test user, and with `refuse` to others. */
function knowsTheUser(accept: Behaviour, refuse: Behaviour = refuses): Behaviour {
  return (socket) => (/marked-(token|bearer)/.test(standIn.requests.at(-1) ?? '') ? accept : refuse)(socket);
}

const mia = '{"id":1059182745930317825,"id_str":"1059182745930317825","screen_name":"mia"}';

test('reports a healthy provider as ok in every respect', async () => {
  standIn.behaviour = knowsTheUser(respondWith(200, mia));
  const { lines, exitCode } = await examine(address, secrets, runCommandProcess);
  expect(lines).toEqual([
    `${address} (profile oauth1)`,
    expect.stringMatching(/^ok {5}It responds after \d+ ms; the limit is 60000 ms\.$/),
    'ok     Its clock is in sync.',
    'ok     Host header: nothing to check, because the provider is queried at its public address.',
    'ok     It refuses made-up credentials (401).',
    'ok     It verifies the test user: subject "1059182745930317825", user.id in records 1059182745930317825, screen name "mia".',
  ]);
  expect(exitCode).toBe(0);
  expect(standIn.requests).toHaveLength(3);
});

test('verifies bearer tokens; shows the user.id of other subjects if USER_ID_SECRET is set', async () => {
  standIn.behaviour = knowsTheUser(respondWith(200, '{"id":"9qz4u2","username":"mia"}'));
  const without = await examine(`mastodon ${address}`);
  expect(without.lines.at(-2)).toBe('ok     It verifies the test user: subject "9qz4u2", screen name "mia".');
  expect(without.lines.at(-1)).toMatch(/^note .*USER_ID_SECRET/);
  const { lines, exitCode } = await examine(`mastodon ${address}`, { ...secrets, USER_ID_SECRET: userIdSecret });
  expect(lines.at(-1)).toMatch(/subject "9qz4u2", user\.id in records \d+, screen name "mia"\.$/);
  expect(exitCode).toBe(0);
});

test('without a test user, names the settings for one', async () => {
  standIn.behaviour = refuses;
  const { lines, exitCode } = await examine(`mastodon ${address}`, {});
  expect(lines.at(-1)).toMatch(/^note .*PROVIDER_TEST_BEARER/);
  expect(exitCode).toBe(0);
  expect((await examine(address, {})).lines.at(-1)).toMatch(/^note .*PROVIDER_TEST_CONSUMER_KEY/);
});

/** The faults that the command reports. */
async function faults(entry = address, env: NodeJS.ProcessEnv = secrets, run = runCommand): Promise<string[]> {
  const { lines, exitCode } = await examine(entry, env, run);
  expect(exitCode).toBe(1);
  return lines.slice(1).filter((line) => line.startsWith('wrong'));
}

const page = respondWith(200, '<!doctype html><title>Log in</title>', `Content-Type: text/html\r\n${date()}`);

const broken: [string, Behaviour, RegExp][] = [
  ['hangs', () => {}, /No complete response within 600 ms/],
  ['closes', (socket) => socket.end(), /closes the connection/],
  ['does not speak HTTP', (socket) => socket.write('220 mail.example ESMTP\r\n'), /Its response is not HTTP/],
  ['responds with too much', respondWith(200, `"${'x'.repeat(70_000)}"`), /too large/],
  [
    'redirects',
    respondWith(302, '', 'Location: https://id.example/login?token=marked-token\r\n'),
    /redirects \(302, to https:\/\/id\.example\/login\)/,
  ],
  ['returns a page', page, /made-up credentials, it returns a web page \(200, HTML\)/],
  ['does not return JSON', respondWith(200, 'hello'), /returns 200 without a JSON object/],
  ['is at another path', respondWith(404), /returns Not Found \(404\)/],
  ['does not accept GET', respondWith(405), /does not accept GET \(405\)/],
  ['rate limits', respondWith(429, '', 'Retry-After: 30\r\n'), /rate limits \(429\): try again later, in 30 s/],
  ['fails', respondWith(503), /fails \(503\)/],
  ['responds unexpectedly', respondWith(400), /returns 400; a refusal would be 401 or 403/],
  ['accepts any credentials', respondWith(200, mia), /DANGER: it accepts made-up credentials/],
  [
    'has a slow clock',
    (socket) => respondWith(401, '', date(-3_600_000))(socket),
    /Its clock is about 1 hr behind ours/,
  ],
  ['refuses the test user', refuses, /one of the four is wrong/],
  [
    'returns no id',
    knowsTheUser(respondWith(200, '{"screen_name":"mia","uid":7}')),
    /lacks the user's id \(id_str or id\); it has screen_name, uid\./,
  ],
  [
    'returns no name',
    knowsTheUser(respondWith(200, '{"id":7,"slug":"mia"}')),
    /lacks the screen name \(screen_name\); it has id, slug\. The profile wordpress would/,
  ],
  ['returns a page for the test user only', knowsTheUser(page), /test user's credentials, it returns a web page/],
];

/** Stops the clock by which skews and durations are measured. */
const stopClock = () => vi.useFakeTimers({ toFake: ['Date'] });

test.each(broken)('explains the fault of a provider that %s', async (name, behaviour) => {
  stopClock();
  standIn.behaviour = behaviour;
  const [sentence = ''] = await faults(address, name === 'hangs' ? impatient : secrets);
  expect(broken.filter(([, , pattern]) => pattern.test(sentence)).map(([other]) => other)).toEqual([name]);
});

test('an incomplete response times out', async () => {
  standIn.behaviour = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{');
  expect(await faults(address, impatient)).toEqual([expect.stringMatching(/No complete response within 600 ms/)]);
});

test.each([
  ['http://127.0.0.1:1/', /^wrong {2}Connection refused: nothing listens at 127\.0\.0\.1:1\.$/],
  ['https://id.invalid/verify', /(Host name id\.invalid not found|DNS lookup of id\.invalid failed)/],
])('reports why %s cannot be reached', async (entry, expected) => {
  expect(await faults(entry)).toEqual([expect.stringMatching(expected)]);
});

test('reports a TLS certificate for another name or from an untrusted authority', async () => {
  await using tls = await startTlsStandIn();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-admin-'));
  const authorities = join(folder.path, 'authorities.pem');
  await writeFile(authorities, otherExampleCertificate);
  const trusting = { ...secrets, NODE_EXTRA_CA_CERTS: authorities };
  expect(await faults(tls.address, trusting, runCommandProcess)).toEqual([
    'wrong  Its TLS certificate is not for 127.0.0.1.',
  ]);
  expect(await faults(tls.address)).toEqual([expect.stringContaining('is not from a trusted authority')]);
});

test('reports an https address of an http server', async () => {
  await using server = await listen(createServer());
  const [fault] = await faults(server.origin.replace('http:', 'https:'));
  expect(fault).toContain('does it speak http?');
});

test('reports an advertised Host that is not served', async () => {
  standIn.behaviour = (socket) => {
    const isOwn = standIn.requests.at(-1)?.includes(`host: ${new URL(address).host}`);
    (isOwn ? refuses : respondWith(404))(socket);
  };
  const { host } = new URL(address);
  expect(await faults(`https://id.example/verify=${address}`)).toEqual([
    `wrong  It does not serve the advertised Host: id.example returns 404, its own host ${host} returns a refusal.`,
  ]);
  standIn.behaviour = refuses;
  const { stdout } = await examine(`https://id.example/verify=${address}`, {});
  expect(stdout).toContain('ok     It serves the advertised Host, id.example.');
  standIn.behaviour = respondWith(404);
  expect((await examine(`https://id.example/verify=${address}`)).stdout).toContain('Cannot check the advertised Host');
});

test('warns if the advertised Host gets 403 and its own gets 401', async () => {
  const { host } = new URL(address);
  standIn.behaviour = (socket) =>
    (/^host: id\.example\r$/m.test(standIn.requests.at(-1) ?? '') ? respondWith(403, '<html>', date()) : refuses)(
      socket,
    );
  const { stdout } = await examine(`https://id.example/verify=${address}`);
  expect(stdout).toContain(
    `warn   It may not serve the advertised Host: id.example returns 403, its own host ${host} returns 401.`,
  );
});

/** Verifies the test user if the signature is over `checked`. */
function checksOver(checked: () => string): Behaviour {
  return (socket) => {
    const header = /^authorization: (.*)$/m.exec(standIn.requests.at(-1) ?? '')?.[1] ?? '';
    const pairs = [...header.matchAll(/(oauth_\w+)="([^"]*)"/g)];
    const { oauth_signature: given, ...parameters } = Object.fromEntries(
      pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]),
    );
    const signing = { consumerSecret: 'marked-consumer-secret', tokenSecret: 'marked-token-secret' };
    const fits = given === signatureOf({ method: 'GET', address: checked(), parameters }, signing);
    (fits ? respondWith(200, mia) : refuses)(socket);
  };
}

test.each([
  ['https://id.example/verify', 'http://id.example/verify'],
  ['http://id.example/verify', 'https://id.example/verify'],
  ['https://id.example/verify/', 'https://id.example/verify'],
  ['https://id.example/verify?a=b', 'http://id.example/verify/?a=b'],
  ['https://id.example/verify', 'https://id.example:80/verify'],
  ['https://id.example:8443/verify', 'https://id.example/verify'],
  ['https://id.example/verify', 'its own'],
  ['https://id.example/verify', 'https://id.example/1/verify.json'],
])('advertised as %s: detects that signatures are checked over %s', async (advertised, over) => {
  const checked = over === 'its own' ? address : over;
  standIn.behaviour = checksOver(() => checked);
  expect(await faults(`${advertised}=${address}`)).toEqual([
    `wrong  It refuses the test user's credentials (401): it checks signatures over ${checked}. Advertise that address.`,
  ]);
  const { stdout, exitCode } = await examine(`${checked}=${address}`);
  expect(stdout).toContain('ok     It verifies the test user');
  expect(exitCode).toBe(0);
});

test('tries no other addresses if the clocks differ too much', async () => {
  stopClock();
  standIn.behaviour = (socket) => respondWith(401, '', date(400_000))(socket);
  expect((await faults()).at(-1)).toMatch(/because the clocks differ/);
  expect(standIn.requests).toHaveLength(3);
  standIn.behaviour = knowsTheUser(respondWith(200, '{"id":"7","username":"mia"}'), (socket) =>
    respondWith(401, '', date(400_000))(socket),
  );
  expect((await examine(`mastodon ${address}`)).stdout).toMatch(/^warn .*about 6 min, 4\d sec ahead of ours/m);
});

test('warns if the profile sends another scheme than the provider expects', async () => {
  standIn.behaviour = respondWith(401, '', 'WWW-Authenticate: Bearer realm="id"\r\n');
  expect((await examine(address, {})).stdout).toContain(
    'expects Bearer (WWW-Authenticate), but the profile sends OAuth',
  );
  expect((await examine(`oidc ${address}`, {})).stdout).not.toContain('WWW-Authenticate');
});

test('warns about a slow provider', async () => {
  stopClock();
  standIn.behaviour = (socket) => {
    vi.advanceTimersByTime(timeoutMs * 0.6);
    refuses(socket);
  };
  expect((await examine(address, {})).stdout).toMatch(/^warn +It responds after 36000 ms/m);
});

test('hides credentials that a provider sends back, and control sequences', async () => {
  standIn.behaviour = knowsTheUser(
    respondWith(200, `{"id":"marked-token","screen_name":"\\u001b[2J\\u009b2J\\u202emarked-key${'x'.repeat(200)}"}`),
  );
  const { lines } = await examine(address);
  expect(lines.at(-2)).toMatch(/subject "\[secret\]", screen name "\\u001b\[2J\\u009b2J\\u202e\[secret\]x+…"\.$/);
  standIn.behaviour = knowsTheUser(respondWith(200, '{"marked-token-secret":1,"\\u001bc":2}'));
  expect((await faults()).at(-1)).toContain('it has "[secret]", "\\u001bc".');
});

test('follows no redirect', async () => {
  await using canary = await startStandIn();
  standIn.behaviour = respondWith(307, '', `Location: ${canary.provider.upstream}\r\n`);
  expect(await faults()).toHaveLength(2);
  expect(canary.requests).toEqual([]);
});

test('finds an advertised address in IDENTITY_PROVIDERS', async () => {
  standIn.behaviour = knowsTheUser(respondWith(200, '{"id":"7","username":"mia"}'));
  const env = { ...secrets, IDENTITY_PROVIDERS: `https://a.example/,mastodon https://id.example/verify=${address}` };
  const { lines, exitCode } = await examine('https://id.example/verify', env);
  expect(lines[0]).toBe(`https://id.example/verify (profile mastodon), queried at ${address}`);
  expect(exitCode).toBe(0);
  expect(standIn.requests.join()).toContain('authorization: Bearer marked-bearer');
});

test.each([
  ['no entry', [], {}, /^Give a provider, or set IDENTITY_PROVIDERS/],
  [
    'an invalid entry',
    ['nobody', 'https://id.example/'],
    {},
    /must begin with an address, or with one of oauth1, mastodon/,
  ],
  [
    'half a user',
    ['https://id.example/'],
    { PROVIDER_TEST_TOKEN: 'marked-token' },
    /^(PROVIDER_TEST_\w+ is required.*\n?){3}$/,
  ],
  [
    'several faults',
    ['https://id.example/'],
    { PROVIDER_TEST_TOKEN: 'marked-token', PROVIDER_TIMEOUT_MS: 'soon', IDENTITY_PROVIDERS: 'marked-list' },
    /^IDENTITY_PROVIDERS .*\nPROVIDER_TIMEOUT_MS .*\n(PROVIDER_TEST_\w+ is required.*\n?){3}$/,
  ],
])('exits with status 2 for %s', async (_, args, env, expected) => {
  const { exitCode, stdout, stderr } = await runCommand(['provider-test', ...args], env);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(expected);
  expect(stderr).not.toContain('marked');
});

test('without an entry, tests all configured providers', async () => {
  standIn.behaviour = refuses;
  const other = 'https://other.example/verify';
  const env = { IDENTITY_PROVIDERS: `${address}, mastodon ${other}=${address}`, PROVIDER_TIMEOUT_MS: `${timeoutMs}` };
  const { lines, exitCode } = await runCommand(['provider-test'], env);
  expect(lines.filter((line) => line.startsWith('http'))).toEqual([
    `${address} (profile oauth1)`,
    `${other} (profile mastodon), queried at ${address}`,
  ]);
  expect(exitCode).toBe(0);
});
