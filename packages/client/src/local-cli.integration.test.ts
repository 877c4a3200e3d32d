import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { patienceMs } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { sandbox, startStack } from '@echodrop/testkit/start-stack';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const cli = (args: readonly string[], env: NodeJS.ProcessEnv) =>
  execa(process.execPath, [join(import.meta.dirname, 'local-cli.ts'), ...args], {
    env,
    reject: false,
    timeout: patienceMs,
  });

test('errors contain the full path of a missing file, and the advice to start the system', async () => {
  const { exitCode, stderr } = await cli(['upload', 'sea.jpg'], { INIT_CWD: '/no/such/folder', GATEWAY_PORT: '9' });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('/no/such/folder/sea.jpg: no such file');
  expect(stderr).toContain('http://127.0.0.1:9 does not respond. Start the system with `npm start`');
});

test('help describes this system: the npm command, its defaults, and no option without effect', async () => {
  const { stdout } = await cli(['upload', '--help'], {});
  const help = stdout.replaceAll(/\s+/g, ' ');
  expect(help).toMatch(/^Usage: npm run upload -- \[options\] <files\.\.\.>/);
  expect(help).toMatch(/--output <format> [^-]*default: "json"\)/);
  expect(help).not.toMatch(/--again|echodrop upload/);
  const ofSign = (await cli(['sign', '--help'], {})).stdout;
  expect(ofSign).toMatch(/^By default, it signs as the sandbox user of the running `npm start`; /m);
});

test('exits quietly if the reader of its output closes the pipe', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'local-cli.ts'), 'sign'], {
    env: {},
    timeout: patienceMs,
  });
  child.stdout.destroy();
  const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect({ stderr, status }).toEqual({ stderr: '', status: 141 });
});

test('reports a full disk for its output in one line, with status 1', async () => {
  const main = join(import.meta.dirname, 'cli/main.ts');
  const { exitCode, stderr } = await execa('sh', ['-c', '"$0" "$1" --help > /dev/full', process.execPath, main], {
    reject: false,
  });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: 'Cannot write to standard output: no space left on device',
  });
});

test('signs for the sandbox of npm start, and for no other identity provider', async () => {
  const { stdout } = await cli(['sign'], { SANDBOX_PROVIDER_PORT: '1234', ECHODROP_PROVIDER: '' });
  expect(stdout).toMatch(/^OAuth realm="http:\/\/127\.0\.0\.1:1234\/", .*oauth_token="12345-sandbox"/);
  const other = await cli(['sign'], { IDENTITY_PROVIDERS: 'https://id.example/verify' });
  expect(other).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(/^Missing credentials for /) });
});

test('uploads to the system of the same environment each time it runs, and prints the record', async () => {
  await using stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
  await using folder = await mkdtempDisposable(join(tmpdir(), 'local-cli-'));
  await writeFile(join(folder.path, 'sea.jpg'), await samplePhoto('jpg', { width: 64, height: 48 }));
  const env = {
    INIT_CWD: folder.path,
    XDG_STATE_HOME: folder.path,
    API_KEYS: sandbox.apiKey,
    GATEWAY_PORT: new URL(stack.gateway).port,
    SANDBOX_PROVIDER_PORT: new URL(stack.provider).port,
  };
  const first = await cli(['upload', 'sea.jpg', '--message', 'At the sea'], env);
  expect(JSON.parse(first.stdout)).toMatchObject({ text: 'At the sea', width: 64, user: { id: sandbox.userId } });
  const second = await cli(['upload', 'sea.jpg', '--api-version', '1'], env);
  expect(JSON.parse(second.stdout)).toMatchObject({ text: '', width: 64 });
  expect(await stack.stored('records')).toHaveLength(2);

  // A person who has signed in on the upload page sees the first. Version 1 has no bearer tokens, so the second belongs to another provider.
  const own = await fetch(`${stack.gateway}/2/media.json`, {
    headers: {
      'X-Auth-Service-Provider': stack.bearerProvider,
      'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer',
    },
  });
  expect(await own.json()).toMatchObject({ media: [{ text: 'At the sea' }] });
  expect((await cli(['upload', 'sea.jpg'], { ...env, ECHODROP_TOKEN: '12345-sandbox' })).exitCode).toBe(0);
});
