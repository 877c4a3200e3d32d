import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { upload } from '@echodrop/testkit/upload';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examplesOf } from '../docs/examples.ts';
import { dockerEnv, root, tags } from './compose-system.ts';

// The commands of the pages for operators, in a fresh clone. The sandbox provider replaces a Mastodon instance.
const parts = new AsyncDisposableStack();
const token = { PROVIDER_TEST_BEARER: 'sandbox-bearer' };
const project = `echodrop-pages-${process.pid}`;
const standIn = `${project}-mastodon`;
const provider = 'https://mastodon.example/api/v1/accounts/verify_credentials';
let clone: string;
let ports: Record<'gateway' | 'site' | 'sandbox', number>;

beforeAll(async () => {
  ports = await freePorts(['gateway', 'site', 'sandbox']);
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'host-pages-'))).path;
  clone = join(folder, 'echodrop');
  await execa('git', ['clone', '--quiet', root, clone]);
});
afterAll(() => parts.disposeAsync());

async function run(code: string, { input = '', ...variables }: Record<string, string> = {}): Promise<string> {
  const env = { ...dockerEnv(), ...tags, COMPOSE_PROJECT_NAME: project, ...variables };
  return (await execa('bash', ['--norc', '-euc', code], { cwd: clone, env, extendEnv: false, input, timeout: 300_000 }))
    .stdout;
}

const isForCompose = (code: string) => /docker compose|\/copy/.test(code);

/** The examples of a page in a language, with the addresses and credentials of this system. */
async function codeOf(page: string, wanted: string): Promise<string[]> {
  const examples = await examplesOf(`host/${page}`, {
    '/opt/echodrop': clone,
    '/secure/copy': join(clone, '../copy'),
    ' echodrop_': ` ${project}_`,
    'https://upload.example': `http://127.0.0.1:${ports.gateway}`,
    'https://media.example': `http://127.0.0.1:${ports.site}`,
    ...(wanted === 'ini' && {
      [`=mastodon ${provider}`]: `=mastodon ${provider}=http://stand-in:8085${new URL(provider).pathname}`,
    }),
  });
  return examples.filter(({ language }) => language === wanted).map(({ code }) => code);
}

async function startStandIn(): Promise<void> {
  const image = `echodrop/sandbox-provider:${tags.ECHODROP_VERSION}`;
  const network = ['--network', `${project}_egress`, '--network-alias', 'stand-in'];
  await execa('docker', ['run', '--detach', '--rm', '--name', standIn, ...network, image]);
}

test('compose: from a clone to an upload', async () => {
  const [, prepare, start, testProvider, , curl] = (await codeOf('compose', 'sh')) as [string, ...string[]];
  parts.defer(async () => {
    await execa('docker', ['rm', '--force', standIn], { reject: false });
    await run("docker compose --profile '*' down --volumes --timeout 5");
  });
  await run(prepare ?? '');
  const [settings = ''] = await codeOf('compose', 'ini');
  const own = `${settings}GATEWAY_PORT=${ports.gateway}\nSITE_PORT=${ports.site}\nSANDBOX_PORT=${ports.sandbox}\n`;
  const names = [...own.matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  const example = await readFile(join(clone, '.env'), 'utf8');
  await writeFile(join(clone, '.env'), example.replaceAll(new RegExp(`^(?:${names.join('|')})=.*\\n`, 'gm'), '') + own);
  await run(start ?? '');
  await startStandIn();
  expect(await run(testProvider ?? '', { input: 'sandbox-bearer\n' })).not.toMatch(/^fail/m);
  expect(await run(curl ?? '', token)).toMatch(/"url":"http:\/\/127\.0\.0\.1:\d+\/\w{10}"/);
}, 400_000);

// Debian's rclone in place of the image.
const rclone = ['FROM debian:bookworm-slim', 'RUN apt-get update && apt-get install -y --no-install-recommends rclone'];

test('backup: a lost store is restored; a lifted block stays lifted', async () => {
  const image = `echodrop-rclone:${tags.ECHODROP_VERSION}`;
  await execa('docker', ['build', '--tag', image, '-'], { input: rclone.join('\n') });
  await writeFile(join(clone, 'docker-compose.override.yml'), `services: { backup: { image: "${image}" } }\n`);
  const ids = async () => {
    const list = await run('docker compose run --rm -T admin list');
    return [...list.matchAll(/Z +(\w{10}) /g)].map(([, id]) => id);
  };
  const isBlocked = async () => (await run('docker compose run --rm -T admin blocks')).includes('lifted');
  const [backUp = '', putBack = '', ...restore] = (await codeOf('backup', 'sh')).filter(isForCompose);
  const kept = await ids();
  expect(kept).toHaveLength(1);
  await run('docker compose run --rm -T admin block-application lifted');
  await run(backUp);
  await run('docker compose run --rm -T admin unblock-application lifted');
  await run(backUp);
  const [, , , , , curl = ''] = await codeOf('compose', 'sh');
  await run(curl, token);
  expect(await ids()).toHaveLength(2);
  await expect(run(`deploy/backup --restore ${join(clone, '../copy')}`)).rejects.toThrow(
    'has records that the copy lacks',
  );
  await run(`rm -rf secrets .env\n${putBack}`);
  for (const code of restore) await run(code);
  expect(await ids()).toEqual(kept);
  expect(await isBlocked()).toBe(false);
  const page = await fetch(`http://127.0.0.1:${ports.site}/${kept[0]}/large.jpg`);
  expect(page.status).toBe(200);
}, 300_000);

test('scale: a second gateway', async () => {
  const [override = ''] = await codeOf('scale', 'yaml');
  const services = override.replace(/^ {2}(?!gateway).*\n/gm, '');
  await writeFile(join(clone, 'docker-compose.override.yml'), services);
  const [up = ''] = await codeOf('scale', 'sh');
  await run(up);
  expect((await run('docker compose ps --quiet gateway')).split('\n')).toHaveLength(2);
}, 200_000);

test('secrets: a new API key, new store keys and Redis passwords fail no upload', async () => {
  const media = await samplePhoto('png', { width: 64, height: 48 });
  const system = { gateway: `http://127.0.0.1:${ports.gateway}`, provider };
  const headers = {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer',
  };
  const key = (await readFile(join(clone, 'secrets/API_KEYS'), 'utf8')).trim();
  const form = [
    { name: 'key', content: key },
    { name: 'message', content: '' },
    { name: 'media', filename: 'media', content: media },
  ];
  const statusOf = async () => (await upload(system, { headers, parts: form }).catch(() => ({ status: 0 }))).status;
  const statuses: number[] = [];
  const uploads = setInterval(async () => statuses.push(await statusOf()), 500);
  try {
    for (const code of await codeOf('secrets', 'sh')) await run(code);
  } finally {
    clearInterval(uploads);
  }
  const [, added = ''] = /^,my-app=(.*)$/m.exec(await readFile(join(clone, 'secrets/API_KEYS'), 'utf8')) ?? [];
  form[0] = { name: 'key', content: added };
  statuses.push(await statusOf());
  expect(new Set(statuses)).toEqual(new Set([200]));
}, 300_000);

test('monitoring: the container that sends alerts', async () => {
  const [, service = ''] = await codeOf('monitoring', 'yaml');
  await writeFile(join(clone, 'docker-compose.override.yml'), service);
  const { services } = JSON.parse(await run('docker compose --profile observability config --format json'));
  const networksOf = (name: string) => Object.keys(services[name].networks);
  expect(networksOf('prometheus').some((network) => networksOf('alertmanager').includes(network))).toBe(true);
}, 60_000);

test('troubleshooting: the log names the outcome of uploads', async () => {
  const [search = ''] = await codeOf('troubleshooting', 'sh');
  expect(await run(search)).toContain('"outcome":"published"');
});
