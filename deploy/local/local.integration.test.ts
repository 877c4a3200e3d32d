import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findProgram } from '@echodrop/testkit/find-program';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { NpmStart, root, type Service, services } from './npm-start.fixture.ts';

const run = promisify(execFile);
let npm: NpmStart;

beforeAll(async () => {
  npm = await NpmStart.prepare();
});
afterEach(() => npm.killAll());
afterAll(() => npm?.[Symbol.asyncDispose]());

async function isReady(service: Service): Promise<boolean> {
  const { ok } = await fetch(`http://127.0.0.1:${npm.portOf(service, 'OPS_PORT')}/readyz`).catch(() => ({ ok: false }));
  return ok;
}

const supervisor = /^node deploy\/local\/local\.ts/;

const withCurl = unlessMissing({ curl: (await findProgram('curl')) !== undefined });

test(
  'npm start starts everything and prints a working command; SIGTERM to npm alone stops everything gracefully',
  withCurl,
  async () => {
    const { pid = Number.NaN } = npm.start();
    await npm.untilReady();

    expect(npm.output).toContain(`\nUploaded deploy/sample.jpg. To repeat this upload, run in ${root}:\ncurl `);
    const [command = ''] = npm.output.split('\n').filter((line) => line.startsWith('curl '));
    const { stdout } = await run('sh', ['-c', `cd ${root} && ${command}`]);
    expect(JSON.parse(stdout)).toMatchObject({ text: 'Hello from Echodrop', width: 640, height: 426, type: 'jpg' });

    const ops = npm.portOf('rendition-worker', 'OPS_PORT');
    const ready = await fetch(`http://127.0.0.1:${ops}/readyz`);
    expect(await ready.json()).toMatchObject({ mediaSandbox: 'full' });
    expect(npm.output).not.toContain('limits only');

    const page = /^photo page +(\S+)$/m.exec(npm.output)?.[1] ?? '';
    expect((await fetch(page)).status).toBe(200);

    const uploadPage = /^upload page +(\S+)$/m.exec(npm.output)?.[1] ?? '';
    expect((await fetch(uploadPage)).status).toBe(200);

    const provider = /^sandbox-provider +(\S+)$/m.exec(npm.output)?.[1] ?? '';
    expect(await (await fetch(provider)).text()).toContain('sandbox-consumer');

    // Other users of the machine have access to neither data nor Redis.
    const openToOthers = (await readdir(npm.dataDir, { recursive: true })).map((name) => join(npm.dataDir, name));
    expect(openToOthers.length).toBeGreaterThan(20);
    for (const path of [npm.dataDir, ...openToOthers]) {
      // Renditions in progress have temporary files.
      const stats = await lstat(path).catch((error) => (error.code === 'ENOENT' ? undefined : Promise.reject(error)));
      expect({ path, mode: (stats?.mode ?? 0) & 0o077 }).toEqual({ path, mode: 0 });
    }
    const address = new URL(await readFile(join(npm.dataDir, 'secrets', 'REDIS_URL'), 'utf8'));
    const ping = (password: string) =>
      run('redis-cli', ['-p', address.port, 'ping'], { env: { ...process.env, REDISCLI_AUTH: password } });
    expect((await ping('')).stdout).toContain('NOAUTH');
    expect((await ping(address.password)).stdout).toContain('PONG');
    expect((await run('ps', ['axo', 'command='])).stdout).not.toContain(address.password);

    process.kill(pid, 'SIGTERM');
    await npm.untilEnded();
    expect(npm.output).toMatch(/^echodrop +stopped$/m);
  },
);

test('without a known user skips the sample; one Ctrl-C, which npm delivers twice, lets running work finish; a second one ends everything at once', async () => {
  const settings = { IDENTITY_PROVIDERS: 'https://id.example/verify', SHUTDOWN_DELAY_SECONDS: '600' };
  const { pid = Number.NaN } = npm.start(settings);
  await npm.untilReady(services.length - 1);
  expect(npm.output).toMatch(/^sample +skipped: /m);
  expect(npm.output).not.toMatch(/^(curl|sandbox-provider) /m);

  process.kill(-pid, 'SIGINT');
  await waitUntil('its time limit', async () => /^echodrop +stopping: .* up to 1240 s/m.test(npm.output));
  await waitUntil('the gateway to stop', async () => !(await isReady('gateway')));
  // If the duplicate counted as another signal, everything would have ended by now.
  await sleep(1500);
  await waitUntil('readiness of a worker', () => isReady('probe-worker'));
  await npm.descendants();

  process.kill(-pid, 'SIGINT');
  await npm.untilEnded();
  expect(npm.output).not.toMatch(/^echodrop +stopped$/m);
});

test('--help prints help and starts nothing', async () => {
  const { stdout } = await run(process.execPath, ['deploy/local/local.ts', '--help'], { cwd: root });
  expect(stdout).toMatch(/^Usage: npm start\n/);
  expect(stdout).not.toMatch(/^echodrop /m);
});

test('refuses a second system in the same directory, and restarts killed processes; a killed supervisor leaves no processes and loses no uploads', async () => {
  npm.start();
  await npm.untilReady();
  await expectSecondSystemRefused();

  const worker = /probe-worker\/main\.js/;
  const redis = /^(redis|valkey)-server/;
  const killed = [await npm.pidOf(worker), await npm.pidOf(redis)];
  for (const pid of killed) process.kill(pid, 'SIGKILL');
  await waitUntil('both processes', async () => {
    const pids = [await npm.pidOf(worker), await npm.pidOf(redis)];
    return !pids.some((pid) => killed.includes(pid));
  });
  await waitUntil('the worker to be ready', () => isReady('probe-worker'));

  const ids: string[] = [];
  const uploading = Array.from({ length: 4 }, () => uploadUntilCut(ids));
  await waitUntil('20 uploads', async () => ids.length >= 20);
  process.kill(await npm.pidOf(supervisor), 'SIGKILL');
  await npm.untilEnded();
  await Promise.all(uploading);

  const { pid = Number.NaN } = npm.start();
  await npm.untilReady();
  const pages = await Promise.all(ids.map((id) => fetch(`${addressOf('site')}/${id}`)));
  expect(pages.map(({ status }) => status)).toEqual(ids.map(() => 200));

  // To the whole group.
  process.kill(-pid, 'SIGTERM');
  await npm.untilEnded();
  expect(npm.output).toMatch(/^echodrop +stopped$/m);
});

/** Uploads until the gateway is killed, and adds the ids of acknowledged uploads. */
async function uploadUntilCut(ids: string[]): Promise<void> {
  const media = await samplePhoto('jpg', { width: 64, height: 48 });
  const system = {
    gateway: addressOf('gateway'),
    provider: `${addressOf('sandbox-provider')}/1/account/verify_credentials.json`,
  };
  for (;;) {
    const response = await upload(system, { media }).catch(() => undefined);
    if (response === undefined) return;
    if (response.status === 200) ids.push(JSON.parse(response.text).id);
  }
}

function addressOf(service: Service): string {
  return `http://127.0.0.1:${npm.portOf(service, 'PORT')}`;
}

async function expectSecondSystemRefused(): Promise<void> {
  const second = spawn(process.execPath, ['deploy/local/local.ts'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: npm.dataDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  second.stderr.on('data', (text) => (stderr += text));
  expect(await once(second, 'close')).toEqual([1, null]);
  expect(stderr).toContain(`Another Echodrop (process ${await npm.pidOf(supervisor)}) is using ${npm.dataDir}`);
}

test('reports all invalid settings and exits before anything starts', async () => {
  const started = npm.start({ LOG_LEVEL: 'loud', SITE_PORT: 'none', GATEWAY_MAX_MEDIA_BYTES: '-1' });
  expect(await once(started, 'close')).toEqual([78, null]);
  expect(npm.output).toMatch(/gateway, .*: LOG_LEVEL must be/);
  expect(npm.output).toMatch(/^SITE_PORT must be/m);
  expect(npm.output).toMatch(/^GATEWAY_MAX_MEDIA_BYTES must be/m);
  expect(npm.output).not.toMatch(/ready$/m);
});
