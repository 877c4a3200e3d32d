import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import { VerificationClient } from '@echodrop/contracts/verification-client';
import { respondWith, type StandInProvider, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { builtService } from '@echodrop/testkit/built-service';
import { freePorts } from '@echodrop/testkit/free-ports';
import { patienceMs, patientSettings, patientSignal } from '@echodrop/testkit/patience';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { localEnvironments } from '../../../deploy/local/default-settings.ts';
import { generateSecrets } from '../../../deploy/local/plan-system.ts';
import { runCommand, runCommandProcess } from './admin.fixture.ts';

const subject = '1059182745930317825';

let resources: AsyncDisposableStack;
let redis: RunningRedis;
let standIn: StandInProvider;
let provider: string;
let client: VerificationClient;
/** The environment of `npm start`. */
let env: Record<string, string>;

// The auth-verifier as `npm start` runs it.
beforeAll(async () => {
  resources = new AsyncDisposableStack();
  redis = resources.use(await startRedis());
  standIn = resources.use(await startStandIn());
  provider = standIn.provider.advertised;
  const dataDir = await mkdtemp(join(tmpdir(), 'echodrop-admin-'));
  resources.defer(() => rm(dataDir, { recursive: true, force: true }));
  const ports = await freePorts(['verifier', 'ops']);
  env = {
    DATA_DIR: dataDir,
    AUTH_VERIFIER_PORT: `${ports.verifier}`,
    AUTH_VERIFIER_OPS_PORT: `${ports.ops}`,
    IDENTITY_PROVIDERS: provider,
    REDIS_URL: redis.url,
    PROVIDER_TIMEOUT_MS: patientSettings.PROVIDER_TIMEOUT_MS,
    VERDICT_TTL_SECONDS: '3600',
  };
  const environments = localEnvironments(env, dataDir);
  await generateSecrets(dataDir, environments.values());
  const main = await builtService('auth-verifier');
  resources.use(
    await ServerProcess.start({
      command: [process.execPath, main],
      env: environments.get('auth-verifier') ?? {},
      isReady: async () => (await fetch(`http://127.0.0.1:${ports.ops}/readyz`)).ok,
    }),
  );
  const secret = new Secret(await readFile(generatedSecretFile(dataDir, 'VERIFIER_SECRET'), 'utf8'));
  const address = `http://127.0.0.1:${ports.verifier}`;
  client = resources.use(new VerificationClient({ address, secret: [secret], deadlineMs: patienceMs }));
});
afterAll(() => resources.disposeAsync());

/** Verifies a user and counts the requests to the provider. */
async function countRequests(token: string, id = subject): Promise<number> {
  standIn.behaviour = respondWith(200, JSON.stringify({ id, screen_name: 'mia' }));
  const before = standIn.requests.length;
  const credentials = { version: 2, provider, authorization: `OAuth oauth_token="${token}"` } as const;
  const verdict = await client.verify({ credentials, clientAddress: '' }, patientSignal());
  expect(verdict).toMatchObject({ outcome: 'verified', caller: { provider, subject: id } });
  return standIn.requests.length - before;
}

test('drops cached verdicts of a running local system without further settings', async () => {
  expect([await countRequests('a'), await countRequests('a')]).toEqual([1, 0]);
  expect(await runCommandProcess(['forget', provider, subject], env)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`Cleared the cached successful verifications of user "${subject}" of ${provider}`),
    stderr: '',
  });
  expect(await countRequests('a')).toBe(1);
});

test('names a user as `list` prints one whose id no shell can pass', async () => {
  const id = '\0\ud800\u202e1';
  expect([await countRequests('c', id), await countRequests('c', id)]).toEqual([1, 0]);
  const { exitCode, stdout } = await runCommand(['forget', provider, '"\\u0000\\ud800\\u202e1"'], env);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('of user "\\u0000\\ud800\\u202e1" of')]);
  expect(await countRequests('c', id)).toBe(1);
});

test.each<[string, () => string[], NodeJS.ProcessEnv, RegExp]>([
  [
    'an unknown provider',
    () => ['http://127.0.0.1/elsewhere', subject],
    {},
    /^Unknown provider http:\/\/127\.0\.0\.1\/elsewhere\. Configured providers: http:\S+$/,
  ],
  [
    'an unavailable verifier',
    () => [provider, subject],
    { VERIFIER_URL: 'http://127.0.0.1:1' },
    /^Verifier unavailable\. Check VERIFIER_URL .*ECONNREFUSED/,
  ],
  [
    'a wrong secret',
    () => [provider, subject],
    { VERIFIER_SECRET: 'a secret of another system' },
    /^Verifier unavailable\. .*VERIFIER_SECRET.*401/,
  ],
])('fails with %s', async (_, args, settings, expected) => {
  const { exitCode, stdout, stderr } = await runCommand(['forget', ...args()], { ...env, ...settings });
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(expected);
  expect(stderr).not.toContain('a secret of');
});

test('fails if the cache is unavailable', async () => {
  await redis.kill();
  try {
    const { exitCode, stdout, stderr } = await runCommand(['forget', provider, subject], env);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^Failed to clear the cached verification results\. Check the verifier's cache/);
  } finally {
    await redis.restart();
  }
});

test.each([
  ['no secret', ['a', 'b'], { DATA_DIR: '/nowhere' }, /^VERIFIER_SECRET is required$/],
  [
    'an invalid address',
    ['a', 'b'],
    { VERIFIER_URL: 'nowhere', VERIFIER_SECRET: 'short' },
    /^VERIFIER_URL must.*\nVERIFIER_SECRET must/,
  ],
  ['no user', ['a'], {}, /missing required argument 'subject'/],
])('exits with status 2 for %s', async (_, args, settings, expected) => {
  const { exitCode, stderr } = await runCommand(['forget', ...args], settings);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(expected);
});

describe('hand-over asks the verifier', () => {
  const old = 'https://old.example/verify';
  const run = (args: readonly string[], more: Record<string, string> = {}) =>
    runCommand(['hand-over', ...args], {
      ...env,
      OBJECT_STORE: 'filesystem',
      OBJECT_STORE_DIR: join(env['DATA_DIR'] ?? '', 'other-store'),
      ...more,
    });

  test.each([
    [
      'while users of the old address can sign in',
      () => [provider, old],
      () => `Users of ${provider} can still sign in`,
    ],
    ['a new address at which no user can sign in', () => [old, `${provider}/`], () => `Unknown provider ${provider}/.`],
  ])('and refuses %s', async (_, addresses, message) => {
    const ran = await run([...addresses(), '--yes']);
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining(message())]);
  });

  test('and runs if the new address is in place of the old one', async () => {
    expect(await run([old, provider, '--yes'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Handed over 0 uploads'),
    });
  });

  test('and refuses without it, unless the whole system is stopped', async () => {
    const unreachable = { VERIFIER_URL: 'http://127.0.0.1:9', AUTH_VERIFIER_PORT: '9' };
    const ran = await run([provider, old, '--yes'], unreachable);
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' });
    expect(ran.stderr).toContain('If the whole system is stopped, add --stopped.');
    expect(await run([provider, old, '--yes', '--stopped'], unreachable)).toMatchObject({ exitCode: 0 });
  });
});
