import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { variableOf as variable } from '@echodrop/client/local-system';
import { freePorts } from '@echodrop/testkit/free-ports';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { upload } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const listeners = ['gateway', 'site', 'auth-verifier', 'sandbox-provider'] as const;
const services = [...listeners, 'probe-worker', 'rendition-worker'] as const;

let dataDir: string;
let ports: Record<string, string>;
let npm: ChildProcess | undefined;
let output: string;
const seen = new Set<number>();

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'npm-start-'));
  const own = Object.entries(await freePorts(listeners)).map(([name, port]) => [variable(name, 'PORT'), String(port)]);
  const ops = Object.entries(await freePorts(services)).map(([name, port]) => [
    variable(name, 'OPS_PORT'),
    String(port),
  ]);
  ports = Object.fromEntries([...own, ...ops]);
});

afterEach(async () => {
  await descendants();
  for (const pid of remaining()) process.kill(pid, 'SIGKILL');
  seen.clear();
});

afterAll(() => rm(dataDir, { recursive: true }));

/** `npm start` as a terminal runs it: the leader of a process group. */
function npmStart(settings: Record<string, string> = {}): ChildProcess {
  output = '';
  npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir, ...ports, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  for (const stream of [npm.stdout, npm.stderr]) stream?.on('data', (text) => (output += text));
  return npm;
}

async function untilReady(running: number = services.length): Promise<void> {
  await waitUntil('ready', 60_000, async () => /^echodrop +ready$/m.test(output) || npm?.exitCode !== null);
  expect(output).toMatch(/^echodrop +ready$/m);
  expect((await descendants()).length).toBeGreaterThanOrEqual(running + 2);
}

/** All descendants of npm; they are also added to `seen`. */
async function descendants(): Promise<{ pid: number; command: string }[]> {
  const { stdout } = await run('ps', ['axo', 'pid=,ppid=,command='], { maxBuffer: 64 << 20 });
  const all = [...stdout.matchAll(/^ *(\d+) +(\d+) +(.*)$/gm)].map(([, pid, parent, command = '']) => ({
    pid: Number(pid),
    parent: Number(parent),
    command,
  }));
  const below = (parent: number): typeof all =>
    all.filter((each) => each.parent === parent).flatMap((each) => [each, ...below(each.pid)]);
  const found = npm?.pid === undefined ? [] : below(npm.pid);
  for (const { pid } of found) seen.add(pid);
  return found;
}

function remaining(): number[] {
  return [...seen].filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}

async function pidOf(pattern: RegExp): Promise<number> {
  const found = (await descendants()).find(({ command }) => pattern.test(command));
  if (!found) throw new Error(`no process is called ${pattern}`);
  return found.pid;
}

async function isReady(service: (typeof services)[number]): Promise<boolean> {
  const ops = ports[variable(service, 'OPS_PORT')];
  const { ok } = await fetch(`http://127.0.0.1:${ops}/readyz`).catch(() => ({ ok: false }));
  return ok;
}

const supervisor = /^node deploy\/local\/local\.ts/;
const nothingRemains = async () => remaining().length === 0;

test('npm start starts everything and prints a working command; SIGTERM to npm only stops all in order', async () => {
  const { pid = Number.NaN } = npmStart();
  await untilReady();

  expect(output).toContain(`\nTo repeat this upload, run in ${root}:\ncurl `);
  const [command = ''] = output.split('\n').filter((line) => line.startsWith('curl '));
  const { stdout } = await run('sh', ['-c', `cd ${root} && ${command}`]);
  expect(JSON.parse(stdout)).toMatchObject({ text: 'Hello from Echodrop', width: 640, height: 426, type: 'jpg' });

  const ops = ports[variable('rendition-worker', 'OPS_PORT')];
  const ready = await fetch(`http://127.0.0.1:${ops}/readyz`);
  expect(await ready.json()).toMatchObject({ mediaSandbox: 'full' });
  expect(output).not.toContain('limits only');

  const page = /^page +(\S+)$/m.exec(output)?.[1] ?? '';
  expect((await fetch(page)).status).toBe(200);

  const provider = /^sandbox-provider +(\S+)$/m.exec(output)?.[1] ?? '';
  expect(await (await fetch(provider)).text()).toContain('sandbox-consumer');

  // No other user of the machine gets at what is kept, nor at Redis.
  const openToOthers = (await readdir(dataDir, { recursive: true })).map((name) => join(dataDir, name));
  expect(openToOthers.length).toBeGreaterThan(20);
  for (const path of [dataDir, ...openToOthers])
    expect({ path, mode: (await lstat(path)).mode & 0o077 }).toEqual({ path, mode: 0 });
  const address = new URL(await readFile(join(dataDir, 'secrets', 'REDIS_URL'), 'utf8'));
  const ping = (password: string) =>
    run('redis-cli', ['-p', address.port, 'ping'], { env: { ...process.env, REDISCLI_AUTH: password } });
  expect((await ping('')).stdout).toContain('NOAUTH');
  expect((await ping(address.password)).stdout).toContain('PONG');
  expect((await run('ps', ['axo', 'command='])).stdout).not.toContain(address.password);

  process.kill(pid, 'SIGTERM');
  await waitUntil('the end', 20_000, nothingRemains);
  expect(output).toMatch(/^echodrop +stopped$/m);
});

test('one Ctrl-C, which arrives twice through npm, lets running work finish; a second one ends all at once', async () => {
  const { pid = Number.NaN } = npmStart({ SHUTDOWN_DELAY_SECONDS: '600' });
  await untilReady();
  process.kill(-pid, 'SIGINT');
  await waitUntil('that it says how long', 5000, async () => /^echodrop +stopping: .* up to 1240 s/m.test(output));
  await waitUntil('the gateway to stop', 5000, async () => !(await isReady('gateway')));
  // Were its second half taken for another signal, all would be gone by now.
  await sleep(1500);
  expect(await isReady('probe-worker')).toBe(true);
  await descendants();

  process.kill(-pid, 'SIGINT');
  await waitUntil('that nothing is left', 3000, nothingRemains);
  expect(output).not.toMatch(/^echodrop +stopped$/m);
});

test('skips the sample and prints the reason if no user is known', async () => {
  const { pid = Number.NaN } = npmStart({ IDENTITY_PROVIDERS: 'https://id.example/verify' });
  await untilReady(services.length - 1);
  expect(output).toMatch(/^sample +skipped: /m);
  expect(output).not.toMatch(/^(curl|sandbox-provider) /m);
  process.kill(-pid, 'SIGTERM');
  await waitUntil('the end of a SIGTERM to the whole group', 20_000, nothingRemains);
  expect(output).toMatch(/^echodrop +stopped$/m);
});

test('refuses a second system on the same directory, and restarts killed processes; a killed supervisor leaves no process, and loses no upload', async () => {
  npmStart();
  await untilReady();
  await expectSecondSystemRefused();

  const worker = /probe-worker\/src\/main\.ts/;
  const redis = /^(redis|valkey)-server/;
  const killed = [await pidOf(worker), await pidOf(redis)];
  for (const pid of killed) process.kill(pid, 'SIGKILL');
  await waitUntil('that both are back', 10_000, async () => {
    const pids = [await pidOf(worker), await pidOf(redis)];
    return !pids.some((pid) => killed.includes(pid));
  });
  await waitUntil('that the worker is ready', 10_000, () => isReady('probe-worker'));

  const ids: string[] = [];
  const uploading = Array.from({ length: 4 }, () => uploadUntilCut(ids));
  await waitUntil('uploads', 10_000, async () => ids.length >= 20);
  process.kill(await pidOf(supervisor), 'SIGKILL');
  await waitUntil('that nothing is left', 20_000, nothingRemains);
  await Promise.all(uploading);

  npmStart();
  await untilReady();
  const pages = await Promise.all(ids.map((id) => fetch(`${addressOf('site')}/${id}`)));
  expect(pages.map(({ status }) => status)).toEqual(ids.map(() => 200));
});

/** Adds the ids of the uploads that are acknowledged until the gateway is gone. */
async function uploadUntilCut(ids: string[]): Promise<void> {
  const media = await samplePhoto('jpg', { width: 64, height: 48 });
  const system = {
    gateway: addressOf('gateway'),
    provider: `${addressOf('sandbox-provider')}/1/account/verify_credentials.json`,
  };
  for (;;) {
    const answer = await upload(system, { media }).catch(() => undefined);
    if (answer === undefined) return;
    if (answer.status === 200) ids.push(JSON.parse(answer.text).id);
  }
}

function addressOf(service: (typeof listeners)[number]): string {
  return `http://127.0.0.1:${ports[variable(service, 'PORT')]}`;
}

async function expectSecondSystemRefused(): Promise<void> {
  const second = spawn(process.execPath, ['deploy/local/local.ts'], {
    cwd: root,
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  second.stderr.on('data', (text) => (stderr += text));
  expect(await once(second, 'exit')).toEqual([1, null]);
  expect(stderr).toContain(`Another Echodrop (process ${await pidOf(supervisor)}) is using ${dataDir}`);
}

test('reports all invalid settings and exits before anything starts', async () => {
  const started = npmStart({ LOG_LEVEL: 'loud', SITE_PORT: 'none', GATEWAY_MAX_MEDIA_BYTES: '-1' });
  expect(await once(started, 'exit')).toEqual([78, null]);
  expect(output).toMatch(/gateway, .*: LOG_LEVEL must be/);
  expect(output).toMatch(/^SITE_PORT must be/m);
  expect(output).toMatch(/^GATEWAY_MAX_MEDIA_BYTES must be/m);
  expect(output).not.toMatch(/ready$/m);
});
