import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '@echodrop/client/local-system';
import { removedSettings } from '@echodrop/service/removed-settings';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readProviderTestConfig, readStoreConfig, readVerifierConfig } from '../services/admin/src/config.ts';
import { type ComposeService, composeFile, composeText, ownServices, root } from './compose-file.fixture.ts';
import { serviceConfigs, serviceNames } from './local/services.ts';
import { makeSecrets } from './made-secrets.fixture.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const example = readFileSync(join(root, '.env.example'), 'utf8');
const pullText = readFileSync(join(root, 'deploy/compose.pull.yml'), 'utf8');
const services = Object.entries(composeFile.services);

// Settings with an alternative, or set in the image.
const elsewhere = ['HOST', 'PORT', 'OPS_PORT', 'BUILD_REVISION', 'REDIS_URL', 'OBJECT_STORE_DIR', 'SCRATCH_DIR'];

/** Whether a variable of Compose only sets a removed setting: `<NAME>` or `<SERVICE>_<NAME>`. */
function passesOnRemoved(variable: string): boolean {
  const prefixes = ['', ...serviceNames.map((service) => variableOf(service, ''))];
  return prefixes.some((prefix) => variable.startsWith(prefix) && variable.slice(prefix.length) in removedSettings);
}

test('.env.example contains exactly the variables of docker-compose.yml and deploy/compose.pull.yml', () => {
  const named = example.matchAll(/^(?:# )?([A-Z][A-Z\d_]+)=/gm).map(([, name]) => name);
  const read = (composeText + pullText)
    .matchAll(/\$\{([A-Z\d_]+)/g)
    .flatMap(([, name = '']) => (passesOnRemoved(name) ? [] : [name]));
  expect([...new Set(named)].sort()).toEqual([...new Set([...read, 'COMPOSE_FILE', 'COMPOSE_PROFILES'])].sort());
});

test.each(serviceNames)(
  '%s gets exactly its settings, all in .env.example, and the removed settings that it warns of',
  (name) => {
    const settings = Object.keys(serviceConfigs[name].settings);
    const removed = Object.keys(removedSettings).filter((each) => removedSettings[each]?.readers.includes(name));
    const given = Object.entries(composeFile.services[name]?.environment ?? {}).map(([each, value]) =>
      value.startsWith('/run/secrets/') ? each.replace(/_FILE$/, '') : each,
    );
    const missing = [...settings, ...removed].filter((each) => !given.includes(each) && !elsewhere.includes(each));
    expect({ missing, unknown: given.filter((each) => ![...settings, ...removed].includes(each)) }).toEqual({
      missing: [],
      unknown: [],
    });
    const names = settings.map((each) => (each === 'CONCURRENCY' ? variableOf(name, each) : each));
    expect(names.filter((each) => !new RegExp(`\\b${each}\\b`).test(example))).toEqual([]);
  },
);

test('every service accepts the settings of .env.example', () => {
  for (const name of serviceNames) {
    expect(() => serviceConfigs[name].readConfig(environmentOf(composeFile.services[name]))).not.toThrow();
  }
  const admin = environmentOf(composeFile.services['admin']);
  for (const read of [readStoreConfig, readVerifierConfig, readProviderTestConfig])
    expect(() => read(admin)).not.toThrow();
  expect(() => readStoreConfig(environmentOf(composeFile.services['sweeper']))).not.toThrow();
});

test('missing required variables have an explanation', () => {
  const required = composeText
    .matchAll(/\$\{([A-Z_]+):\?([^}]+)\}/g)
    .map(([, name, why]) => [name, (why ?? '').length > 20]);
  expect(new Map([...required] as [string, boolean][])).toEqual(
    new Map([
      ['PUBLIC_SITE_URL', true],
      ['IDENTITY_PROVIDERS', true],
    ]),
  );
});

test('publishes only the ports of the proxies and of Grafana', () => {
  const published = services.filter(([, { ports }]) => ports);
  expect(Object.fromEntries(published.map(([name, { ports }]) => [name, ports]))).toEqual({
    proxy: [
      `\${GATEWAY_HOST:-127.0.0.1}:\${GATEWAY_PORT:-8080}:8080`,
      `\${SITE_HOST:-127.0.0.1}:\${SITE_PORT:-8081}:8081`,
    ],
    'sandbox-proxy': [`127.0.0.1:\${SANDBOX_PORT:-8085}:8085`],
    grafana: [`127.0.0.1:\${GRAFANA_PORT:-3000}:3000`],
  });
});

test('only the verifier, the commands and published services can connect to the internet', () => {
  const open = Object.keys(composeFile.networks).filter((name) => !composeFile.networks[name]?.internal);
  const withWayOut = services.filter(([, { networks }]) => networks.some((network) => open.includes(network)));
  expect(withWayOut.map(([name]) => name).sort()).toEqual([
    'admin',
    'auth-verifier',
    'grafana',
    'proxy',
    'sandbox-proxy',
  ]);
});

const workers = ['probe-worker', 'rendition-worker'];

// The reach of a compromised component (docs/why/compromised-components.md). The gateway trusts X-Forwarded-For of every container that it shares a
// network with.
test.each([
  ['proxy', ['gateway', 'grafana', 'prometheus', 'sandbox-proxy', 'site']],
  [
    'gateway',
    [
      ...['admin', 'auth-verifier', 'backup', 'cache-redis', 'grafana', 'minio', 'prometheus', 'proxy', 'queue-redis'],
      ...['site', 'store-set-up', 'sweeper', ...workers],
    ],
  ],
  ['auth-verifier', ['admin', 'cache-redis', 'gateway', 'prometheus', 'sandbox-provider']],
  ['queue-redis', ['gateway', 'prometheus', 'site', ...workers]],
  ['cache-redis', ['auth-verifier', 'gateway']],
  ['node-exporter', ['prometheus']],
  ['minio', ['admin', 'backup', 'gateway', 'site', 'store-set-up', 'sweeper', ...workers]],
])('%s shares networks only with %j', (name, others) => {
  const own = composeFile.services[name]?.networks ?? [];
  const sharing = services.filter(([, { networks }]) => networks.some((network) => own.includes(network)));
  expect(sharing.map(([each]) => each).sort()).toEqual([...others, name].sort());
});

test('each Redis runs the server itself, not the entrypoint of the image, which loads modules', () => {
  const redis = services.filter(([, { image }]) => image.startsWith('redis:'));
  expect(redis.map(([name, { entrypoint, command }]) => [name, entrypoint, String(command).split(' ')[0]])).toEqual(
    ['queue-redis', 'cache-redis'].map((name) => [name, ['redis-server'], '--aclfile']),
  );
  expect(JSON.stringify(redis)).not.toContain('loadmodule');
});

test('the proxy has no secret', () => {
  expect(composeFile.services['proxy']?.secrets).toBeUndefined();
});

test.each(services)('%s restarts, has limits, and can write only to its volumes', (name, service) => {
  expect(service).toMatchObject({
    restart: ['admin', 'backup'].includes(name) ? 'no' : 'unless-stopped',
    read_only: true,
    cap_drop: ['ALL'],
    // No seccomp=unconfined: the media sandbox is tested under the engine's default profile.
    security_opt: ['no-new-privileges:true'],
    logging: { driver: 'json-file', options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } },
    mem_limit: expect.any(String),
    pids_limit: expect.any(Number),
  });
});

test('images have the version of package.json or a tag with a version', () => {
  for (const [name, { image }] of ownServices()) {
    const own = { sweeper: 'admin', 'sandbox-proxy': 'proxy' }[name] ?? name;
    const tag = own === 'proxy' ? `\${PROXY_VERSION:-3}` : `\${ECHODROP_VERSION:-${version}}`;
    expect(image).toBe(`echodrop/${own}:${tag}`);
  }
  const others = services.filter(([, { image }]) => !image.startsWith('echodrop/'));
  for (const [, { image }] of others) expect(image).toMatch(/^[\w./-]+:[^:@]*\d[^:@]*(@sha256:[\da-f]{64})?$/);
});

test('deploy/compose.pull.yml pulls every image that docker-compose.yml builds, and builds none', () => {
  const { services: parsed } = parse(pullText, { customTags: [{ tag: '!reset', resolve: () => 'reset' }] });
  // The first one explains what is missing.
  const own = ownServices().map(([name, { image }]) => {
    const registry = `\${ECHODROP_REGISTRY${name === 'proxy' ? /:\?[^}]{20,}/.exec(parsed.proxy.image) : ''}}`;
    return [name, { image: registry + image, pull_policy: 'missing', build: 'reset' }];
  });
  expect(parsed).toEqual(Object.fromEntries(own));
});

test('every secret is a file, and each service gets only the secrets that it reads', () => {
  const used = new Set<string>();
  for (const [name, { secrets = [], environment = {}, ...rest }] of services) {
    for (const secret of secrets) {
      const { source, target } = typeof secret === 'string' ? { source: secret, target: secret } : secret;
      used.add(source);
      const isNamed = JSON.stringify([environment, rest]).includes(`/run/secrets/${target}`);
      const isRead = isNamed || (name === 'store-set-up' && readBySetUp.includes(target));
      expect({ name, target, isRead }).toEqual({ name, target, isRead: true });
    }
    const targets = secrets.map((secret) => (typeof secret === 'string' ? secret : secret.target));
    for (const path of JSON.stringify([environment, rest]).matchAll(/\/run\/secrets\/([A-Z\d_]+)/g)) {
      expect(targets).toContain(path[1]);
    }
  }
  expect([...used].sort()).toEqual(Object.keys(composeFile.secrets).sort());
});

// deploy/store/set-up constructs these names.
const policies = readdirSync(join(root, 'deploy/store/policies')).map((file) => file.replace('.json', ''));
const readBySetUp = [
  ...policies.flatMap((service) => ['S3_ACCESS_KEY', 'S3_SECRET_KEY'].map((name) => variableOf(service, name))),
  ...['S3_ROOT_USER', 'S3_ROOT_PASSWORD'],
];

test('deploy/make-secrets generates exactly the secrets of docker-compose.yml', async () => {
  await using made = await makeSecrets();
  // For operators, not for containers.
  expect(readdirSync(made.folder).sort()).toEqual(
    [...Object.keys(composeFile.secrets), 'REDIS_OPERATOR_PASSWORD'].sort(),
  );
  // A store with CVE-2026-40344 takes writes from anyone who knows this name.
  expect(readFileSync(join(made.folder, 'S3_ROOT_USER'), 'utf8')).toMatch(/^root-[0-9a-f]{16}\n$/);
});

test('only the owner can enter the folder of deploy/make-secrets', async () => {
  await using made = await makeSecrets();
  chmodSync(made.folder, 0o755);
  await made.makeAgain();
  expect(statSync(made.folder).mode & 0o777).toBe(0o700);
});

test('deploy/make-secrets makes no secrets in a folder that it cannot close to others', async () => {
  // No user may change its mode, not even root.
  const SECRETS_DIR = '/proc/self';
  const { exitCode, stdout, stderr } = await execa(join(root, 'deploy/make-secrets'), {
    env: { SECRETS_DIR },
    reject: false,
  });
  expect([exitCode, stdout, stderr]).toEqual([
    1,
    '',
    `deploy/make-secrets: no right to close ${SECRETS_DIR} to other users: make yourself its owner, or set SECRETS_DIR.`,
  ]);
});

test('deploy/make-secrets refuses a Redis password that needs URL encoding', async () => {
  await using made = await makeSecrets();
  const file = join(made.folder, 'SITE_QUEUE_REDIS_URL');
  chmodSync(file, 0o600);
  writeFileSync(file, 'redis+sentinel://site:secret@queue-redis:26379/my%20set\n');
  await made.makeAgain();
  writeFileSync(file, 'redis://site:sec%72et@queue-redis:6379\n');
  await expect(made.makeAgain()).rejects.toThrow('must not need percent-encoding');
});

test('only MinIO and its set-up have the root keys, and each service has its own keys', () => {
  const holders = new Map<string, string[]>();
  for (const [name, { secrets = [] }] of services)
    for (const secret of secrets) {
      const source = typeof secret === 'string' ? secret : secret.source;
      if (/_S3_|_REDIS_|S3_ROOT/.test(source)) holders.set(source, [...(holders.get(source) ?? []), name]);
    }
  for (const [source, names] of holders) {
    const owner = policies.concat('auth-verifier').find((service) => source.startsWith(variableOf(service, '')));
    const others = names.filter((name) => name !== 'store-set-up' && name !== owner);
    const allowed = {
      S3_ROOT: ['minio'],
      ADMIN_S3: ['backup'],
      QUEUE_REDIS_ACL: ['queue-redis'],
      CACHE_REDIS_ACL: ['cache-redis'],
    };
    const [, may = []] = Object.entries(allowed).find(([prefix]) => source.startsWith(prefix)) ?? [];
    expect({ source, others }).toEqual({ source, others: may });
  }
});

// As interpolated by Compose, with valid secrets.
function environmentOf(service: ComposeService | undefined): NodeJS.ProcessEnv {
  const settings = Object.fromEntries(example.matchAll(/^([A-Z\d_]+)=(.*)$/gm).map(([, name, value]) => [name, value]));
  const entries = Object.entries(service?.environment ?? {}).map(([name, value]): [string, string] => {
    const [, secret] = /^\/run\/secrets\/(.*)$/.exec(value) ?? [];
    if (secret)
      return [secret, secret.endsWith('_REDIS_URL') ? 'redis://user:password@redis:6379' : `the-secret-${secret}`];
    const filledIn = value.replace(/\$\{([A-Z\d_]+)(?::([-?+])([^}]*))?\}/g, (_all, of, how, or = '') =>
      how === '+' ? (settings[of] ? or : '') : (settings[of] ?? or),
    );
    return [name, filledIn];
  });
  return Object.fromEntries(entries);
}
