import { mkdir, mkdtempDisposable, readdir, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { NpmStart, root } from '../../deploy/local/npm-start.fixture.ts';
import { examplesOf } from './examples.ts';

const parts = new AsyncDisposableStack();
let npm: NpmStart;
let folder: string;
let env: Record<string, string>;
let id: string;
beforeAll(async () => {
  npm = parts.use(await NpmStart.prepare());
  folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'host-page-'))).path;
  env = npm.settings;
  npm.start();
  await npm.untilReady();
});
const uploadSample = (options = {}) =>
  execa('npm', ['run', '--silent', 'upload', '--', 'deploy/sample.jpg'], { cwd: root, env, ...options });
beforeEach(async () => {
  id = JSON.parse((await uploadSample()).stdout).id;
});
afterEach(() => expect(npm.output).not.toMatch(/"level":"(error|fatal)"/));
afterAll(() => parts.disposeAsync());

const provider = () => `http://127.0.0.1:${npm.portOf('sandbox-provider', 'PORT')}/api/v1/accounts/verify_credentials`;

/** Runs all shell commands of a page in `cwd`. @returns what they printed */
async function runPage(page: string, cwd = root): Promise<string> {
  const examples = await examplesOf(`host/${page}`, {
    Ab3dE6gH9j: id,
    'https://social.example/api/v1/accounts/verify_credentials': provider(),
    'https://media.example': `http://127.0.0.1:${npm.portOf('site', 'PORT')}`,
    'https://upload.example': `http://127.0.0.1:${npm.portOf('gateway', 'PORT')}`,
    ' 109': ' 12345',
    '../export': join(folder, 'export'),
    '../evidence': join(folder, 'evidence'),
  });
  // test/containers/host-pages.containers.ts runs the commands for Compose.
  const isForCompose = (code: string) => /docker compose|\/secure\//.test(code);
  const commands = examples.filter(({ language, code }) => language === 'sh' && !isForCompose(code));
  return (
    await execa('bash', ['-ec', commands.map(({ code }) => code).join('\n')], { cwd, env, timeout: 2 * patienceMs })
  ).stdout;
}

test('moderation', async () => {
  const printed = await runPage('moderation');
  expect(printed).toContain(id);
  const page = `http://127.0.0.1:${npm.portOf('site', 'PORT')}/${id}`;
  await expect.poll(async () => (await fetch(page)).status).toBe(410);
  expect(await readdir(join(folder, 'evidence', id))).toEqual([`${id}.jpg`, `${id}.json`]);
  expect(await readdir(join(folder, 'export'))).not.toEqual([]);
  await execa('npm', ['run', '--silent', 'admin', '--', 'unblock-user', provider(), '12345'], { cwd: root, env });
  // Gateways notice it within ten seconds.
  await expect.poll(async () => (await uploadSample({ reject: false })).exitCode).toBe(0);
});

test('sweep', async () => {
  expect(await runPage('sweep')).toContain('Dry run');
});

test('resumable', async () => {
  const printed = await runPage('resumable');
  expect(printed).toMatch(/^HTTP\/1.1 204 /);
  expect(printed).toMatch(/^tus-max-size: 536870912\r$/im);
});

test('backup: with rsync, and with rclone', async () => {
  await symlink(join(npm.dataDir, 'store'), join(folder, 'live'));
  await symlink('objects', join(npm.dataDir, 'store/bucket'));
  await mkdir(join(folder, 'copy/objects'), { recursive: true });
  env = {
    ...env,
    RCLONE_CONFIG_LIVE_TYPE: 'alias',
    RCLONE_CONFIG_LIVE_REMOTE: join(folder, 'live'),
    RCLONE_CONFIG_COPY_TYPE: 'alias',
    RCLONE_CONFIG_COPY_REMOTE: join(folder, 'copy'),
  };
  await runPage('backup', folder);
  for (const copy of ['objects', 'bucket'])
    expect(await readdir(join(folder, 'copy', copy, 'records'))).toContain(`${id}.json`);
});

// Where commands are run, and why some are not.
const elsewhere: Record<string, string> = {
  compose: 'test/containers/host-pages.containers.ts; steps 1 and 5 change the system of a server',
  scale: 'test/containers/host-pages.containers.ts',
  secrets: 'test/containers/host-pages.containers.ts',
  troubleshooting: 'test/containers/host-pages.containers.ts',
  'compose-tasks': 'test/containers/faults.containers.ts runs deploy/rolling-update',
  'one-container': 'test/containers/all.containers.ts runs the image, with the commands of the README',
  moving: 'needs several systems: from npm start to one container, to Compose and back it was run by hand',
  monitoring: 'test/containers has no images of Prometheus and Grafana; deploy/prometheus runs the configuration',
  'moved-provider': 'needs a provider that moved: services/admin/src/hand-over.integration.test.ts',
  kubernetes: 'needs a cluster: test/kubernetes',
  'kubernetes-tasks': 'needs a cluster: test/kubernetes',
};

test('every page with commands is run, or named with a reason', async () => {
  const pages = (await readdir(join(root, 'docs/host'))).map((file) => file.replace(/\.md$/, ''));
  const withCommands = [];
  for (const page of pages)
    if ((await examplesOf(`host/${page}`)).some(({ language }) => language === 'sh')) withCommands.push(page);
  expect(withCommands.sort()).toEqual(['moderation', 'sweep', 'resumable', 'backup', ...Object.keys(elsewhere)].sort());
});
