import { createHash, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordToJson } from '@echodrop/record';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuse, respond, someRecord, startFakeService } from '../../service.fixture.ts';
import { type Profile, readProfile } from '../profiles/profiles.ts';
import { run } from '../run-cli.fixture.ts';
import { type ProviderStandIn, startProvider } from './provider.fixture.ts';
import { freshProfile } from './renew-token.ts';

// Time for a mistake. A test passes also without it.
const pauseMs = 200;

let provider: ProviderStandIn;
let folder: string;

beforeEach(async () => {
  provider = await startProvider();
  folder = await mkdtemp(join(tmpdir(), 'login-'));
});
afterEach(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const environment = () => ({ XDG_CONFIG_HOME: folder });
// docs/reference/sign-in.md
const redirectPathAt = (path: string) =>
  `/sign-in/${createHash('sha256').update(`${provider.origin}${path}`).digest('hex').slice(0, 16)}`;
const profile = (name = 'default') => readProfile(environment(), name);
const echodrop = (args: readonly string[], stdin = '') => run(args, { env: environment(), stdin });

/** Logs in. By default, `visit` follows every redirect like a browser. */
async function login(args: readonly string[], visit: (address: string) => Promise<unknown> = fetch) {
  let visited: Promise<unknown> | undefined;
  const onStderr = (text: string) => {
    const [address] = /^http:.*$/m.exec(text) ?? [];
    if (address) visited ??= visit(address);
  };
  const result = await run(['login', provider.origin, '--yes', '--no-browser', ...args], {
    env: environment(),
    onStderr,
  });
  await visited;
  return result;
}

test('reports a folder that is not writable before the sign-in', async () => {
  const command = ['login', provider.origin, '--provider', 'town', '--yes', '--no-browser'];
  const { status, stderr } = await run(command, { env: { XDG_CONFIG_HOME: '/sys' } });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(/^\/sys\/echodrop: .*\n$/) });
});

test('signs in at Mastodon, shows the user and signs out', async () => {
  const { status, stdout } = await login(['--provider', 'town']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'Signed in as mia at Town.\n' });
  expect(await profile()).toMatchObject({
    service: 'https://upload.example',
    apiKey: 'pages',
    name: 'mia',
    subject: '42',
  });
  const registration = provider.requests.find(({ path }) => path === 'POST /api/v1/apps');
  expect(registration?.form.get('scopes')).toBe('profile');
  expect(registration?.form.get('redirect_uris')).toMatch(
    new RegExp(`^http://127\\.0\\.0\\.1:\\d+${redirectPathAt('/api/v1/accounts/verify_credentials')}$`),
  );

  expect((await echodrop(['whoami'])).stdout).toMatch(/^mia at http.*, uploading to https:\/\/upload\.example\n$/);
  expect(provider.validTokens.size).toBe(1);
  expect((await echodrop(['logout'])).stdout).toBe('Signed out: mia at Town.\n');
  expect(provider.validTokens.size).toBe(0);
  expect(await readdir(join(folder, 'echodrop'))).toEqual([]);
  expect((await echodrop(['logout'])).stdout).toBe('Not signed in.\n');
});

test('a second login revokes the token that it replaces', async () => {
  await login(['--provider', 'Town']);
  await login(['--provider', 'Town']);
  expect([...provider.validTokens]).toEqual([(await profile())?.token]);
});

test('a second login of a user at the same client revokes nothing, because that could end the new sign-in', async () => {
  await login(['--provider', 'Work']);
  await login(['--provider', 'Work']);
  expect(provider.validTokens.size).toBe(2);
  expect(provider.requests.filter(({ path }) => path === 'POST /oauth/revoke')).toEqual([]);
});

test('a login that fails keeps the earlier sign-in', async () => {
  await login(['--provider', 'Town']);
  provider.behaviour.deniesUser = true;
  expect((await login(['--provider', 'Town'])).status).toBe(1);
  const args = ['login', provider.origin, '--provider', 'Town', '--yes', '--token-stdin'];
  expect((await echodrop(args, 'mistyped')).status).toBe(1);
  expect((await echodrop(['whoami'])).status).toBe(0);
});

test('an older Mastodon gets a scope that it supports', async () => {
  provider.behaviour.refusesProfileScope = true;
  expect((await login(['--provider', 'Town'])).status).toBe(0);
  const scopes = provider.requests
    .filter(({ path }) => path === 'POST /api/v1/apps')
    .map(({ form }) => form.get('scopes'));
  expect(scopes).toEqual(['read:accounts']);
});

test('signs in at an OpenID provider as a public client, with a separate profile', async () => {
  const { status, stdout } = await login(['--provider', 'Work', '--profile', 'work']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'Signed in as max at Work.\n' });
  expect(await profile('work')).toMatchObject({ name: 'max', subject: 'u-1' });
  expect(await profile()).toBeUndefined();
  const request = provider.requests.find(({ path }) => path === 'POST /oauth/token');
  expect(request?.form.has('client_secret')).toBe(false);
});

test('a token that expires soon is renewed', async () => {
  provider.behaviour.tokenSeconds = 10;
  await login(['--provider', 'Work']);
  const first = (await profile())?.token;
  provider.validTokens.clear();
  expect((await echodrop(['whoami'])).status).toBe(0);
  const renewed = (await profile())?.token;
  expect([...provider.validTokens].at(-1)).toBe(renewed);
  expect(renewed).not.toBe(first);
});

test('a token that the service refuses during an upload is renewed, once for all files', async () => {
  await using service = await startFakeService();
  provider.settings.upload = service.address;
  provider.behaviour.tokenSeconds = 3600;
  await login(['--provider', 'Work']);
  for (const name of ['a', 'b', 'c']) await writeFile(join(folder, name), name);
  const published = respond(200, recordToJson(someRecord));
  const refused = refuse(401, 'credentials_refused');
  service.responses = [published, refused, published];
  const args = ['upload', 'a', 'b', 'c', '--jobs', '1'];
  const { status, stderr } = await run(args, { env: { ...environment(), XDG_STATE_HOME: folder }, cwd: folder });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const tokens = service.received.map(({ headers }) => headers['x-verify-credentials-authorization']);
  expect(tokens).toHaveLength(4);
  expect(tokens[1]).toBe(tokens[0]);
  expect(new Set(tokens)).toEqual(new Set([tokens[0], `Bearer ${(await profile())?.token}`]));
});

test('whoami renews a token that the provider refuses', async () => {
  provider.behaviour.tokenSeconds = 3600;
  await login(['--provider', 'Work']);
  provider.validTokens.clear();
  expect((await echodrop(['whoami'])).status).toBe(0);
  expect([...provider.validTokens]).toEqual([(await profile())?.token]);
});

test('two processes can renew a token concurrently, although its refresh token is valid once', async () => {
  provider.behaviour.tokenSeconds = 10;
  provider.behaviour.rotates = true;
  await login(['--provider', 'Work']);
  provider.behaviour.beforeTokens = () => sleep(pauseMs);
  provider.behaviour.tokenSeconds = 3600;
  provider.validTokens.clear();
  const both = await Promise.all([echodrop(['whoami']), echodrop(['whoami'])]);
  expect(both.map(({ status, stderr }) => ({ status, stderr }))).toEqual(Array(2).fill({ status: 0, stderr: '' }));
  // Some providers end the sign-in at a second use.
  expect(provider.requests.filter(({ form }) => form.has('refresh_token'))).toHaveLength(1);
  expect([...provider.validTokens]).toEqual([(await profile())?.token]);
});

test('a renewal removes what a killed process left of the profile', async () => {
  provider.behaviour.tokenSeconds = 10;
  await login(['--provider', 'Work']);
  const left = ['default.json', 'default.json.bak'];
  for (const name of [`default.json.${randomUUID()}`, 'default.json.bak'])
    await writeFile(join(folder, 'echodrop', name), 'token');
  await echodrop(['whoami']);
  expect(await readdir(join(folder, 'echodrop'))).toEqual(left);
});

test('a login that cannot be stored revokes its token', async () => {
  const block = (address: string) => mkdir(join(folder, 'echodrop/default.json')).then(() => fetch(address));
  expect(await login(['--provider', 'Town'], block)).toMatchObject({ status: 1, stdout: '' });
  expect(provider.requests.some(({ path }) => path === 'POST /oauth/token')).toBe(true);
  expect(provider.validTokens.size).toBe(0);
});

test('a login that cannot identify its user revokes the token', async () => {
  provider.behaviour.hidesUser = true;
  expect((await login(['--provider', 'Town'])).status).toBe(1);
  expect(provider.validTokens.size).toBe(0);
});

test('a token that another command renewed is used, and a profile that it ended or replaced is not stored again', async () => {
  provider.behaviour.tokenSeconds = 3600;
  await login(['--provider', 'Work']);
  const old = (await profile()) as Profile;
  const fresh = () => freshProfile(environment(), 'default', old, old.token);
  const renewed = await fresh();
  const requests = provider.requests.length;
  expect(await fresh()).toEqual(renewed);
  expect(provider.requests).toHaveLength(requests);
  await login(['--provider', 'Town']);
  await expect(fresh()).rejects.toThrow('Another command has signed out the profile default or changed its user.');
  expect(await profile()).toMatchObject({ name: 'mia' });
  await echodrop(['logout']);
  await expect(fresh()).rejects.toThrow('Another command has signed out');
  expect(await profile()).toBeUndefined();
});

const keptToken = 'The token is not revoked. It stays valid until it expires or you revoke it at Work.\n';

test.each([
  [{ revocation_endpoint: 'ORIGIN/nowhere' }, keptToken],
  [{ revocation_endpoint: null }, keptToken],
  [{ revocation_endpoint: '/revoke' }, keptToken],
  [{ id_token_signing_alg_values_supported: ['ES256', null] }, ''],
])(
  'a user can leave a provider with the metadata %j, and learns if the token stays valid',
  async (metadata, stderr) => {
    provider.behaviour.metadata = JSON.parse(JSON.stringify(metadata).replace('ORIGIN', provider.origin));
    await login(['--provider', 'Work']);
    expect(await echodrop(['logout'])).toEqual({ status: 0, stdout: 'Signed out: max at Work.\n', stderr });
  },
);

test('a token with an expiry beyond the maximum date does not expire', async () => {
  provider.behaviour.tokenSeconds = 1e13;
  expect((await login(['--provider', 'Work'])).status).toBe(0);
  expect((await profile())?.expiresAt).toBeUndefined();
});

test('a renewal that failed while the provider was down can be retried', async () => {
  provider.behaviour.tokenSeconds = 10;
  provider.behaviour.renewalStatus = 503;
  await login(['--provider', 'Work']);
  const { status, stderr } = await echodrop(['whoami']);
  expect(status).toBe(1);
  expect(stderr).toContain('could not renew the sign-in. Try again later.');
  expect(await readdir(join(folder, 'echodrop'))).toEqual(['default.json']);
  provider.behaviour.renewalStatus = undefined;
  expect((await echodrop(['whoami'])).status).toBe(0);
});

test('a redirect to the path of another provider does not end the login', async () => {
  const { status } = await login(['--provider', 'Town'], async (address) => {
    const response = await fetch(address, { redirect: 'manual' });
    const location = response.headers.get('location') ?? '';
    const mixedUp = location.replace(
      redirectPathAt('/api/v1/accounts/verify_credentials'),
      redirectPathAt('/userinfo'),
    );
    expect(mixedUp).not.toBe(location);
    expect((await fetch(mixedUp)).status).toBe(404);
    await fetch(location);
  });
  expect(status).toBe(0);
});

test.each([
  ['denies the user', { deniesUser: true }, /^The request was denied\. Run `echodrop login <site>` to try again\.$/m],
  ['refuses the code', { refusesCode: true }, /^127\.0\.0\.1:\d+ refused the sign-in: invalid_grant\./m],
  ['sends an id token of another sign-in', { wrongNonce: true }, /^The sign-in at 127\.0\.0\.1:\d+ failed\. /m],
])('a provider that %s ends the login with a message, and nothing is stored', async (_, behaviour, message) => {
  Object.assign(provider.behaviour, behaviour);
  const { status, stderr } = await login(['--provider', 'Work']);
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(message) });
  expect(await profile()).toBeUndefined();
});

test('requests with another state do not end the login', async () => {
  const { status } = await login(['--provider', 'Town'], async (address) => {
    const back = new URL(address).searchParams.get('redirect_uri') ?? '';
    expect((await fetch(`${back}?code=stolen&state=guessed`)).status).toBe(400);
    expect((await fetch(`${back}?error=access_denied`)).status).toBe(400);
    for (const path of ['/', '//']) expect((await fetch(new URL(back).origin + path)).status).toBe(404);
    const page = await fetch(address);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await page.text()).toContain('<p>The sign-in continues in the terminal. You can close this tab.</p>');
  });
  expect(status).toBe(0);
});

test('opens the default browser', async () => {
  const save = `fetch(process.argv[1]).then(async (page) => fs.writeFileSync('${folder}/page', await page.text()))`;
  await writeFile(join(folder, 'xdg-open'), `#!/bin/sh\nexec "${process.execPath}" -e "${save}" "$1"\n`, {
    mode: 0o755,
  });
  const env = { ...environment(), PATH: `${folder}:${process.env['PATH']}` };
  const { status } = await run(['login', provider.origin, '--provider', 'Town', '--yes'], { env });
  expect(status).toBe(0);
  await expect
    .poll(() => readFile(join(folder, 'page'), 'utf8').catch(() => ''))
    .toContain('continues in the terminal');
});

test('reads a token from standard input', async () => {
  provider.validTokens.add('given');
  const args = ['login', provider.origin, '--provider', 'Town', '--yes', '--token-stdin'];
  expect(await echodrop(args, 'given\n')).toMatchObject({ status: 0, stdout: 'Signed in as mia at Town.\n' });
  expect((await profile())?.token).toBe('given');
  for (const [wrong, status, message] of [
    ['unknown', 1, 'rejected this token'],
    ['', 2, 'Standard input has no token'],
    ['two words', 2, 'Standard input has no token'],
  ] as const)
    expect(await echodrop([...args, '--profile', 'other'], wrong)).toMatchObject({
      status,
      stderr: expect.stringContaining(message),
    });
  expect(await profile('other')).toBeUndefined();
});

test.each([
  ['', [], 'Choose a provider with --provider: "Town", "Work".'],
  ['/upload', [], 'Choose a provider with --provider: "Town", "Work".'],
  ['', ['--provider', 'Nowhere'], 'Unknown provider "Nowhere". Choose one with --provider: "Town", "Work".'],
])('lists the providers of the site of a page: %j %j', async (path, options, message) => {
  const { status, stderr } = await echodrop(['login', provider.origin + path, ...options]);
  expect({ status, stderr }).toEqual({ status: 2, stderr: `${message}\n` });
});

test('reports a site without sign-in', async () => {
  await using service = await startFakeService();
  service.responses = [respond(404)];
  const { status, stderr } = await echodrop(['login', service.address]);
  expect(status).toBe(1);
  expect(stderr).toContain(`${service.address} offers no sign-in`);
});

test('reports an address that does not speak TLS', async () => {
  const { stderr } = await echodrop(['login', provider.origin.replace('http:', 'https:')]);
  expect(stderr).toMatch(/ does not respond: fetch failed: TLS failed: [a-z ]+\n$/);
});

test('no output contains a token or a secret', async () => {
  const results = [await login(['--provider', 'Town']), await echodrop(['whoami']), await echodrop(['logout'])];
  const output = JSON.stringify(results);
  const secrets = provider.requests.flatMap(({ form }) =>
    ['token', 'code', 'client_secret', 'code_verifier'].flatMap((name) => form.get(name) ?? []),
  );
  expect(secrets.length).toBeGreaterThan(3);
  expect(secrets.filter((secret) => output.includes(secret))).toEqual([]);
});
