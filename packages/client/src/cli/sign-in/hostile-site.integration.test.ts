import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '@echodrop/testkit/find-program';
import { patienceMs } from '@echodrop/testkit/patience';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { respond, startFakeService } from '../../service.fixture.ts';
import { readProfile } from '../profiles/profiles.ts';
import { run } from '../run-cli.fixture.ts';
import { type ProviderStandIn, startProvider } from './provider.fixture.ts';
import { providersOf } from './provider-documents.fixture.ts';

// The site is hostile: it names providers, clients and scopes as it likes.
const cliMain = join(import.meta.dirname, '../main.ts');
const hasScript = (await findProgram('script')) !== undefined;

let provider: ProviderStandIn;
let folder: string;

beforeEach(async () => {
  provider = await startProvider();
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
});
afterEach(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const environment = () => ({ XDG_CONFIG_HOME: folder });
const paths = () => provider.requests.map(({ path }) => path);

/** Logs in. Each address is visited, and each redirect followed, as by a browser. */
async function login(args: readonly string[], terminal?: string) {
  let visited: Promise<unknown> | undefined;
  const onStderr = (text: string) => {
    const [address] = /^http:.*$/m.exec(text) ?? [];
    if (address) visited ??= fetch(address);
  };
  const options = { env: environment(), onStderr, ...(terminal !== undefined && { isTTY: true, stdin: terminal }) };
  const result = await run(['login', provider.origin, '--no-browser', ...args], options);
  await visited;
  return result;
}

test('the first sign-in at a site and provider shows what the site requests, and is refused without a terminal', async () => {
  provider.behaviour.named = { clientId: 'kubectl' };
  const { status, stdout, stderr } = await login(['--provider', 'Work']);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe(
    [
      'Check this sign-in:',
      `  Site               ${provider.origin}/`,
      '  Upload service     https://upload.example/',
      `  Identity provider  ${provider.origin}/userinfo, "Work"`,
      `  Sign in at         ${provider.origin}/`,
      '  Client             "kubectl"',
      '  Scopes             openid profile (who you are)',
      'The operator of the upload service gets the token. It can upload and delete in your name, and do what the scopes allow.',
      'Sign in only if you trust the site.',
      'Check that the client is for uploads: a token for another program could do more.',
      'No terminal to confirm this sign-in. Check the lines above, then pass --yes.',
      '',
    ].join('\n'),
  );
  expect(paths()).toEqual(['GET /sign-in/providers.json']);
});

test.each(['', '\n', 'n\n', 'no\n', 'yes please\n'])('the input %j signs in nowhere', async (input) => {
  const { status, stderr } = await login(['--provider', 'Town'], input);
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/Sign in\? \[y\/N\] .*Not signed in\./),
  });
  expect(paths()).toEqual(['GET /sign-in/providers.json']);
});

test.each(['y\n', 'Yes\n'])('the input %j signs in, and is remembered', async (input) => {
  expect(await login(['--provider', 'Work'], input)).toMatchObject({ status: 0 });
  expect(await login(['--provider', 'Work'])).toMatchObject({ status: 0, stdout: 'Signed in as max at Work.\n' });
});

test.each<[string, string, (at: ProviderStandIn) => void]>([
  ['client', 'Work', ({ behaviour }) => Object.assign(behaviour.named, { clientId: 'kubectl' })],
  ['scopes', 'Work', ({ behaviour }) => Object.assign(behaviour.named, { scope: 'openid profile offline_access' })],
  ['issuer', 'Work', ({ origin, behaviour }) => Object.assign(behaviour.named, { issuer: `${origin}/other` })],
  ['provider', 'Work', ({ origin, behaviour }) => Object.assign(behaviour.named, { provider: `${origin}/other` })],
  ['scopes at Mastodon', 'Town', ({ behaviour }) => Object.assign(behaviour.named, { scope: 'read:accounts' })],
  ['upload service', 'Town', ({ settings }) => Object.assign(settings, { upload: 'https://other.example' })],
])('a site that changes its %s is confirmed again', async (_, name, change) => {
  expect(await login(['--provider', name, '--yes'])).toMatchObject({ status: 0 });
  change(provider);
  const before = provider.requests.length;
  const { status, stderr } = await login(['--provider', name]);
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(
      /^Check this sign-in, which differs from the last one:\n( {2}.*\n)* {2}.* \(before: .*\)\n/,
    ),
  });
  expect(paths().slice(before)).toEqual(['GET /sign-in/providers.json']);
});

test('a token from standard input is confirmed, too', async () => {
  provider.validTokens.add('given');
  const args = ['login', provider.origin, '--provider', 'Town', '--token-stdin'];
  const refused = await run(args, { env: environment(), stdin: 'given' });
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringMatching(/^ {2}Token +from standard input$/m) });
  expect(paths()).toEqual(['GET /sign-in/providers.json']);
  for (const more of [['--yes'], []])
    expect(await run([...args, ...more], { env: environment(), stdin: 'given' })).toMatchObject({ status: 0 });
  provider.settings.upload = 'https://other.example';
  const moved = await run([...args, '--yes'], { env: environment(), stdin: 'given' });
  expect(moved).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('https://other.example/ (before: https://upload.example/)'),
  });
  // It says nothing about the client and scopes of a sign-in.
  expect(await login(['--provider', 'Town'])).toMatchObject({ status: 2 });
});

test.each([
  ['Work', 'openid cluster:admin'],
  ['Town', 'read'],
])('the site cannot request at %s the scope %j, even if the user agrees', async (name, scope) => {
  provider.behaviour.named = { scope };
  const { status, stderr } = await login(['--provider', name, '--yes']);
  const message = new RegExp(
    `^The site requests the scope "${scope}" at ${name}, but it may contain only .*\\. Report this`,
  );
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(message) });
  expect(paths()).toEqual(['GET /sign-in/providers.json']);
});

test('nothing of the site changes what the terminal shows', async () => {
  const hostile = '\u001b[2J\u009b31m\u202e\u200b\u2066\u2028';
  provider.behaviour.named = { name: `Work${hostile}`, clientId: `public${hostile}`, scope: `openid${hostile}` };
  const outputs = [
    await login([]),
    await login(['--provider', 'x']),
    await login([`--provider=${provider.origin}/userinfo`]),
  ];
  delete provider.behaviour.named['scope'];
  outputs.push(await login([`--provider=${provider.origin}/userinfo`]));
  for (const { stderr } of outputs) {
    expect(stderr).toContain('Work');
    expect(stderr.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  }
});

/** Rows of a terminal with 80 columns. Ours begin with no or two blanks. */
const rowsOf = (text: string) => text.split('\n').flatMap((line) => line.match(/.{1,80}/g) ?? ['']);

// Each fills a row and begins the next one.
const paddings = {
  'blanks of many kinds': (length: number) => '\u2003\u3000\u2800\u1680 '.repeat(length).slice(0, length),
  'words that are visible': (length: number) => ' -'.repeat(length).slice(0, length),
  'wide letters': (length: number) => '漢'.repeat(length / 2),
};
const forged = 'Sign in at https://good.example/';
const forgeries = Object.entries(paddings).flatMap(([what, pad]) =>
  (['name', 'clientId', 'scope', 'upload', 'provider', 'issuer'] as const).map((field) => [what, field, pad] as const),
);

test.each(forgeries)('%s in the %s begin no row of the terminal', async (_, field, pad) => {
  // One of any 80 lengths in a row puts the text at the beginning of a row.
  for (let length = 80; length < 160; length += 1) {
    const filler = pad(length);
    const start = { name: 'Work', clientId: 'a', scope: 'openid', upload: 'https://upload.example/' }[field as 'name'];
    const text = `${start ?? `${provider.origin}/userinfo`}${filler}${forged}`.slice(0, 256);
    const settings = { ...provider.settings, ...(field === 'upload' && { upload: text }) };
    const named = field === 'upload' ? {} : { [field]: text };
    const providers = providersOf(provider.origin).map((each) => ({ ...each, ...named }));
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ ...settings, providers }));
    const { stderr } = await login(
      length % 2 ? ['--provider', 'Work'] : [`--provider=${provider.origin}/userinfo`],
      '',
    );
    expect(rowsOf(stderr).filter((row) => /^ {0,3}"?Sign in at h/.test(row))).toEqual([]);
    expect(stderr).not.toMatch(/[^\S\n ]|\u2800/);
  }
});

test('a client that contains blanks looks like no other', async () => {
  provider.behaviour.named = { clientId: 'a  b\u00a0c' };
  expect((await login(['--provider', 'Work'])).stderr).toContain('  Client             "a\\u0020\\u0020b\\u00a0c"\n');
});

test.each(['https://lоgin.example/userinfo', 'https://login.example@evil.example/userinfo'])(
  'an address that looks like one of another host is none: %s',
  async (address) => {
    provider.behaviour.named = { provider: address };
    expect((await login(['--provider', 'Work'])).stderr).toBe('This site offers no sign-in.\n');
    provider.behaviour.named = { issuer: address };
    expect((await login(['--provider', 'Work'])).stderr).toMatch(/^(Unknown provider|This site offers no sign-in)/);
    provider.settings.upload = address;
    const { stderr } = await run(['login', provider.origin, '--no-browser'], { env: environment() });
    expect(stderr).toContain('offers no sign-in');
  },
);

test('the site does not choose the redirect URI', async () => {
  provider.behaviour.named = { redirectPath: '/sign-in/callback' };
  expect(await login(['--provider', 'Town', '--yes'])).toMatchObject({ status: 0 });
  const registration = provider.requests.find(({ path }) => path === 'POST /api/v1/apps');
  expect(registration?.form.get('redirect_uris')).toMatch(/:\d+\/sign-in\/[\da-f]{16}$/);
});

test('an issuer on another server gets no code at the redirect URI of the provider', async () => {
  await using evil = await startProvider();
  evil.behaviour.metadata = {
    userinfo_endpoint: `${provider.origin}/userinfo`,
    authorization_endpoint: `${provider.origin}/oauth/authorize`,
  };
  const redirectOf = async () => {
    const { stderr } = await login(['--provider', 'Work', '--yes']);
    const [address = ''] = /^http:.*$/m.exec(stderr) ?? [];
    return URL.parse(new URL(address).searchParams.get('redirect_uri') ?? '')?.pathname;
  };
  const registered = await redirectOf();
  provider.behaviour.named = { issuer: evil.origin };
  const mixedUp = await redirectOf();
  for (const path of [registered, mixedUp]) expect(path).toMatch(/^\/sign-in\/[\da-f]{16}$/);
  expect(mixedUp).not.toBe(registered);
});

test('the token stays with the upload service of its sign-in', async () => {
  await using service = await startFakeService();
  await using other = await startFakeService();
  provider.settings.upload = service.address;
  await login(['--provider', 'Town', '--yes']);
  provider.settings.upload = other.address;
  const list = (more = {}) => run(['list'], { env: { ...environment(), ...more } });
  service.responses = [respond(200, '{"media":[]}'), respond(307, '', { Location: `${other.address}/2/media.json` })];
  expect(await list()).toMatchObject({ status: 0 });
  expect(await list()).toMatchObject({ status: 1 });
  expect(await list({ ECHODROP_URL: other.address })).toMatchObject({ status: 2 });
  expect(await login(['--provider', 'Town'])).toMatchObject({ status: 2 });
  expect((await readProfile(environment(), 'default'))?.service).toBe(service.address);
  expect([service.received.length, other.received]).toEqual([2, []]);
});

test.each(['POST /oauth/token', 'GET /userinfo', 'POST /api/v1/apps'])(
  'no redirect of %s is followed',
  async (path) => {
    await using other = await startFakeService();
    provider.behaviour.redirected = { path, to: other.address };
    expect(await login(['--provider', path.includes('apps') ? 'Town' : 'Work', '--yes'])).toMatchObject({ status: 1 });
    expect(paths()).toContain(path);
    expect(other.received).toEqual([]);
  },
);

test('the command asks at a real terminal', unlessMissing({ script: hasScript }), async () => {
  const command = [process.execPath, cliMain, 'login', provider.origin, '--provider', 'Town', '--no-browser'];
  const env = { ...environment(), TERM: 'xterm' };
  const asked = execa('script', ['-qec', command.join(' '), '/dev/null'], { env, reject: false, timeout: patienceMs });
  let output = '';
  let visited: Promise<unknown> | undefined;
  asked.stdout.on('data', (text: Buffer) => {
    const isAsked = output.includes('[y/N]');
    output += text;
    if (!isAsked && output.includes('[y/N]')) asked.stdin.write('y\n');
    const [, address] = /^(http:\S+)\r$/m.exec(output) ?? [];
    if (address) visited ??= fetch(address);
  });
  // It also ends, although the terminal stays open.
  expect(await asked).toMatchObject({ exitCode: 0, timedOut: false });
  await visited;
  expect(output).toContain('Signed in as mia at Town.');
});
