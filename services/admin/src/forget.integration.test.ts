import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatedSecretFile } from '@echodrop/client/local-system';
import { VerificationClient } from '@echodrop/contracts/verification-client';
import { type StandInProvider, says, startStandIn } from '@echodrop/identity-provider/stand-in-provider.fixture';
import { Secret } from '@echodrop/service/secret';
import { freePorts } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { localEnvironments } from '../../../deploy/local/local-environment.ts';
import { makeOwnSecrets } from '../../../deploy/local/own-secrets.ts';
import { admin, adminHere } from './admin.fixture.ts';

const subject = '1059182745930317825';

let parts: AsyncDisposableStack;
let redis: RunningRedis;
let standIn: StandInProvider;
let provider: string;
let client: VerificationClient;
/** What a person has in the environment who runs `npm start` with it. */
let env: Record<string, string>;

// The auth-verifier as `npm start` runs it.
beforeAll(async () => {
  parts = new AsyncDisposableStack();
  redis = parts.use(await startRedis());
  standIn = parts.use(await startStandIn());
  provider = standIn.provider.advertised;
  const dataDir = await mkdtemp(join(tmpdir(), 'echodrop-admin-'));
  parts.defer(() => rm(dataDir, { recursive: true, force: true }));
  const ports = await freePorts(['verifier', 'ops']);
  env = {
    DATA_DIR: dataDir,
    AUTH_VERIFIER_PORT: `${ports.verifier}`,
    AUTH_VERIFIER_OPS_PORT: `${ports.ops}`,
    IDENTITY_PROVIDERS: provider,
    REDIS_URL: redis.url,
  };
  const environments = localEnvironments(env, dataDir);
  await makeOwnSecrets(dataDir, environments.values());
  const main = join(import.meta.dirname, '../../auth-verifier/src/main.ts');
  parts.use(
    await ServerProcess.start({
      command: [process.execPath, main],
      env: environments.get('auth-verifier') ?? {},
      answers: async () => (await fetch(`http://127.0.0.1:${ports.ops}/readyz`)).ok,
    }),
  );
  const secret = new Secret(await readFile(generatedSecretFile(dataDir, 'VERIFIER_SECRET'), 'utf8'));
  const address = `http://127.0.0.1:${ports.verifier}`;
  client = parts.use(new VerificationClient({ address, secret: [secret], deadlineMs: 5000 }));
});
afterAll(() => parts.disposeAsync());

/** How many questions the provider gets when a user, mia unless said, is verified now. */
async function questionsFor(token: string, id = subject): Promise<number> {
  standIn.behaviour = says(200, `{"id":${id},"screen_name":"mia"}`);
  const before = standIn.questions.length;
  const credentials = { version: 2, provider, authorization: `OAuth oauth_token="${token}"` } as const;
  const verdict = await client.verify({ credentials, clientAddress: '' }, AbortSignal.timeout(5000));
  expect(verdict).toMatchObject({ outcome: 'verified', caller: { provider, subject: id } });
  return standIn.questions.length - before;
}

test('beside a running system a user is forgotten at once, with no further settings', async () => {
  expect([await questionsFor('a'), await questionsFor('a')]).toEqual([1, 0]);
  expect(await admin(['forget', provider, subject], env)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`of the user "${subject}" of ${provider} is void`),
    stderr: '',
  });
  expect(await questionsFor('a')).toBe(1);
});

test('another user stays remembered', async () => {
  await questionsFor('b', '8');
  expect((await adminHere(['forget', provider, '7'], env)).exitCode).toBe(0);
  expect(await questionsFor('b', '8')).toBe(0);
});

test.each<[string, () => string[], NodeJS.ProcessEnv, RegExp]>([
  [
    'a provider that is not configured',
    () => ['http://127.0.0.1/elsewhere', subject],
    {},
    /^No provider is advertised as http:\/\/127\.0\.0\.1\/elsewhere; the verifier knows http:\S+$/,
  ],
  [
    'a verifier that is not there',
    () => [provider, subject],
    { VERIFIER_URL: 'http://127.0.0.1:1' },
    /^The verifier cannot be asked: VERIFIER_URL .*ECONNREFUSED/,
  ],
  [
    'a secret that the verifier does not know',
    () => [provider, subject],
    { VERIFIER_SECRET: 'a secret of another system' },
    /^The verifier cannot be asked: .*VERIFIER_SECRET .*401/,
  ],
])('%s is told, and nothing is done', async (_, args, settings, said) => {
  const { exitCode, stdout, stderr } = await adminHere(['forget', ...args()], { ...env, ...settings });
  expect([exitCode, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(said);
  expect(stderr).not.toContain('a secret of');
});

test('a cache that is not in reach is told', async () => {
  await redis.kill();
  try {
    const { exitCode, stdout, stderr } = await adminHere(['forget', provider, subject], env);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^The verifier answers and could not forget: is its cache .* in reach\?/);
  } finally {
    await redis.restart();
  }
});

test.each([
  ['no secret', ['a', 'b'], { DATA_DIR: '/nowhere' }, /^VERIFIER_SECRET is required$/],
  [
    'an address that is none',
    ['a', 'b'],
    { VERIFIER_URL: 'nowhere', VERIFIER_SECRET: 'short' },
    /^VERIFIER_URL must.*\nVERIFIER_SECRET must/,
  ],
  ['no user', ['a'], {}, /missing required argument 'subject'/],
])('%s is a matter of usage: status 2', async (_, args, settings, said) => {
  const { exitCode, stderr } = await admin(['forget', ...args], settings);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(said);
});
