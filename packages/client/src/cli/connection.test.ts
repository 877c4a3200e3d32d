import { chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from './command-context.ts';
import { connect } from './connection.ts';
import { lockProfile, type Profile, readProfile, storeProfile } from './profiles/profiles.ts';
import { run } from './run-cli.fixture.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'connection-'));
});
afterEach(() => rm(home, { recursive: true }));

const profile = {
  site: 'https://photos.example',
  service: 'https://upload.example',
  apiKey: 'pages',
  provider: 'https://social.example/verify',
  providerName: 'Town',
  token: 'secret-token',
  name: 'mia',
  subject: '7',
};
async function writeProfile(env: NodeJS.ProcessEnv, name: string, profile: Profile): Promise<void> {
  await using _lock = await lockProfile(env, name);
  await storeProfile(env, name, profile);
}

const context = (env: NodeJS.ProcessEnv = {}) => ({ env: { XDG_CONFIG_HOME: home, ...env } }) as never;

test('a profile has service, key, provider and token', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
  expect(await connect(context(), {})).toMatchObject({
    service: 'https://upload.example',
    apiKey: 'pages',
    provider: 'https://social.example/verify',
    credentials: { bearer: 'secret-token' },
  });
});

test('only the user can read a profile', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'town', profile);
  const mode = async (path: string) => ((await stat(join(home, 'echodrop', path))).mode & 0o777).toString(8);
  expect([await mode('.'), await mode('town.json')]).toEqual(['700', '600']);
});

test('a profile name cannot leave its folder', async () => {
  for (const name of ['../x', '/x', '.x', ''])
    await expect(readProfile({ XDG_CONFIG_HOME: home }, name)).rejects.toThrow('A profile name');
});

test('the error for a damaged profile says what to do', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
  await writeFile(join(home, 'echodrop/default.json'), '{"token":');
  await expect(connect(context(), {})).rejects.toThrow('Run `echodrop login` again');
  expect(await readFile(join(home, 'echodrop/default.json'), 'utf8')).toBe('{"token":');
});

test('without a profile, says how to sign in', async () => {
  await expect(connect(context(), {})).rejects.toThrow('Not signed in. Run `echodrop login <site>`.');
  expect(await run(['list'], { env: { XDG_CONFIG_HOME: home } })).toMatchObject({ status: 2, stdout: '' });
});

test('reports an expired sign-in that cannot be renewed', async () => {
  const expiresAt = new Date(Date.now() - 1000).toISOString();
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', { ...profile, expiresAt });
  await expect(connect(context(), {})).rejects.toThrow('The sign-in has expired');
});

test('an option overrides its variable, and both replace the profile', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
  const env = { ECHODROP_PROVIDER: 'https://variable.example', ECHODROP_BEARER: 'b' };
  const options = { provider: 'https://option.example/v', url: 'https://gateway.example/' };
  expect(await connect(context(env), options)).toMatchObject({
    service: 'https://gateway.example',
    provider: 'https://option.example/v',
    credentials: { bearer: 'b' },
  });
  expect(await connect(context(env), { profile: 'default' })).toMatchObject({ provider: profile.provider });
});

test('an empty profile name is an error, not the default profile; an empty variable counts as unset', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
  for (const command of ['list', 'logout']) {
    const { status, stderr } = await run([command, '--profile', ''], { env: { XDG_CONFIG_HOME: home } });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^A profile name .*: ""\.\n$/) });
  }
  expect(await connect(context({ ECHODROP_PROFILE: '' }), {})).toMatchObject({ provider: profile.provider });
});

test('a profile together with credentials is refused', async () => {
  const options = { profile: 'default', provider: 'https://option.example/v', bearer: 'b' };
  await expect(connect(context(), options)).rejects.toThrow('not both');
});

test('the token of a profile is sent to no other server', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
  const connectTo = (url: string) => connect(context({ ECHODROP_URL: url }), {});
  expect(await connectTo('https://upload.example/api/')).toMatchObject({ service: 'https://upload.example/api' });
  for (const url of ['https://other.example', 'http://upload.example', 'https://upload.example:8443'])
    await expect(connectTo(url)).rejects.toThrow(
      `The profile default belongs to https://upload.example, so its token is not sent to ${url}.`,
    );
});

test.each([
  ['upload service', { url: 'http://gateway:8080' }],
  ['provider', { provider: 'http://id.example/v' }],
])('credentials are sent over plain HTTP only on this machine, or with --allow-http: %s', async (what, plain) => {
  const options = { provider: 'https://id.example/v', url: 'http://127.0.0.1:8080', bearer: 'b' };
  expect(await connect(context(), options)).toMatchObject({ service: options.url });
  const insecure = connect(context(), { ...options, ...plain });
  await expect(insecure).rejects.toThrow(`The URL of the ${what} must start with https://`);
  expect(await connect(context(), { ...options, ...plain, allowHttp: true })).toMatchObject({
    credentials: { bearer: 'b' },
  });
});

test('ECHODROP_ALLOW_HTTP permits plain HTTP only if it is 1', async () => {
  const options = { provider: 'https://id.example/v', url: 'http://gateway:8080', bearer: 'b' };
  const connectWith = (value: string) => connect(context({ ECHODROP_ALLOW_HTTP: value }), options);
  expect(await connectWith('1')).toMatchObject({ service: options.url });
  for (const value of ['0', 'false', 'true', ' '])
    await expect(connectWith(value)).rejects.toThrow(new UsageError('ECHODROP_ALLOW_HTTP must be 1, or unset.'));
});

test('a profile that others can read is refused, and logout still ends it', async () => {
  await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
  const path = join(home, 'echodrop/default.json');
  for (const mode of [0o640, 0o604, 0o602]) {
    await chmod(path, mode);
    await expect(connect(context(), {})).rejects.toThrow(`can read or change ${path}.`);
  }
  await chmod(path, 0o600);
  if (process.getuid?.() === 0) {
    await chown(path, 65_534, 65_534);
    await expect(connect(context(), {})).rejects.toThrow(`can read or change ${path}.`);
  }
  expect((await run(['logout'], { env: { XDG_CONFIG_HOME: home } })).stdout).toBe('Signed out: mia at Town.\n');
});

test('OAuth 1.0a needs all four credentials', async () => {
  const env = { ECHODROP_URL: 'https://gateway.example', ECHODROP_CONSUMER_KEY: 'ck', ECHODROP_TOKEN: 't' };
  const options = { provider: 'https://id.example/v', consumerSecret: 'cs' };
  await expect(connect(context(env), options)).rejects.toThrow('Missing credentials for https://id.example/v');
  expect(await connect(context({ ...env, ECHODROP_BEARER: 'b' }), { ...options, tokenSecret: 'ts' })).toMatchObject({
    credentials: { consumerKey: 'ck', consumerSecret: 'cs', token: 't', tokenSecret: 'ts' },
  });
});

test('a bearer token that is invalid in a header is refused without showing it', async () => {
  const env = { ECHODROP_URL: 'https://gateway.example', ECHODROP_PROVIDER: 'https://id.example/v' };
  const { status, stderr } = await run(['whoami'], { env: { ...env, ECHODROP_BEARER: 'SECRETtok\nen' } });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(/^The bearer token .*\n$/) });
  expect(stderr).not.toContain('SECRET');
});

test.each([{ ECHODROP_BEARER: 'b' }, { ECHODROP_TOKEN: 't' }])(
  'credentials without a provider are an error even with a profile: %j',
  async (env) => {
    await writeProfile({ XDG_CONFIG_HOME: home }, 'default', profile);
    await expect(connect(context(env), {})).rejects.toThrow('Credentials without an identity provider');
    expect(await connect(context(env), { profile: 'default' })).toMatchObject({
      credentials: { bearer: 'secret-token' },
    });
  },
);

test('the account of a bearer token does not contain it', async () => {
  const { account } = await connect(context(), {
    provider: 'https://id.example/v',
    url: 'https://gateway.example',
    bearer: 'hush',
  });
  expect(account).not.toContain('hush');
});

test.each([
  [{ provider: 'example.com' }],
  [{ provider: 'https://id.example/写真', url: 'https://gateway.example' }],
  [{ provider: 'https://id.example/v' }],
  [{ provider: 'https://id.example/v', url: 'ftp://example.com' }],
  [{ provider: 'https://id.example/v', url: 'https://gateway.example/#x' }],
  [{ provider: 'https://id.example/v', url: 'https://me:password@gateway.example' }],
])('rejects %j', async (options) => {
  await expect(connect(context(), { bearer: 'b', ...options })).rejects.toThrow(UsageError);
});

test.each([
  [['upload']],
  [['remove', 'x']],
  [['upload', 'a.jpg', '--output', 'yaml']],
  [['upload', 'a.jpg', '--jobs', '99']],
  [['upload', 'a.jpg', '--format', 'xml']],
  [['list', '--count', '101']],
  [['sign', '--color', 'red']],
  [['login', 'photos.example']],
  [['login', 'http://photos.example']],
])('%j is an invalid command line: status 2', async (args) => {
  const { status, stdout, stderr } = await run(args, { env: { XDG_CONFIG_HOME: home } });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).not.toBe('');
});

test('help goes to standard output, with examples and exit status', async () => {
  const { status, stdout, stderr } = await run(['--help']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('Examples:');
  expect(stdout).toContain('Exit status:');
});

test('errors are red only on a terminal without NO_COLOR', async () => {
  const red = '\u001b[31m';
  const errorOf = async (isTTY: boolean, env = {}) =>
    (await run(['list'], { isTTY, env: { XDG_CONFIG_HOME: home, ...env } })).stderr;
  expect(await errorOf(true)).toContain(red);
  expect(await errorOf(true, { NO_COLOR: '1' })).not.toContain(red);
  expect(await errorOf(false)).not.toContain(red);
});
