import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { variableOf } from '@echodrop/client/local-system';
import { expect, test } from 'vitest';
import { readForgetConfig, readProviderTestConfig, readStoreConfig } from '../services/admin/src/config.ts';
import { type ComposeService, composeFile, composeText, ownServices, root } from './compose-file.fixture.ts';
import { configReaders, type ServiceName } from './services.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const example = readFileSync(join(root, '.env.example'), 'utf8');
const services = Object.entries(composeFile.services);

// Settings without which there is another for the same, or that the image has.
const elsewhere = ['HOST', 'PORT', 'OPS_PORT', 'BUILD_REVISION', 'REDIS_URL', 'OBJECT_STORE_DIR', 'SCRATCH_DIR'];

test('.env.example names what docker-compose.yml reads, and nothing else', () => {
  const named = example.matchAll(/^(?:# )?([A-Z][A-Z\d_]+)=/gm).map(([, name]) => name);
  const read = composeText.matchAll(/\$\{([A-Z\d_]+)/g).map(([, name]) => name);
  expect([...new Set(named)].sort()).toEqual([...new Set([...read, 'COMPOSE_PROFILES'])].sort());
});

test.each(Object.keys(configReaders) as ServiceName[])(
  '%s gets its settings and no others, and all are in .env.example',
  (name) => {
    const settings = settingsOf(name);
    const given = Object.entries(composeFile.services[name]?.environment ?? {}).map(([each, value]) =>
      value.startsWith('/run/secrets/') ? each.replace(/_FILE$/, '') : each,
    );
    const missing = settings.filter((each) => !given.includes(each) && !elsewhere.includes(each));
    expect({ missing, unknown: given.filter((each) => !settings.includes(each)) }).toEqual({
      missing: [],
      unknown: [],
    });
    const names = settings.map((each) => (/^(FILM_)?CONCURRENCY$/.test(each) ? variableOf(name, each) : each));
    expect(names.filter((each) => !new RegExp(`\\b${each}\\b`).test(example))).toEqual([]);
  },
);

test('with .env.example as it is, every service finds its settings sound', () => {
  for (const name of Object.keys(configReaders) as ServiceName[]) {
    expect(() => configReaders[name](environmentOf(composeFile.services[name]))).not.toThrow();
  }
  const admin = environmentOf(composeFile.services['admin']);
  for (const read of [readStoreConfig, readForgetConfig, readProviderTestConfig])
    expect(() => read(admin)).not.toThrow();
  expect(() => readStoreConfig(environmentOf(composeFile.services['sweeper']))).not.toThrow();
});

test('what must be set says why it must', () => {
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

test('only the proxy is reached from outside, and Grafana from this machine', () => {
  const published = services.filter(([, { ports }]) => ports);
  expect(Object.fromEntries(published.map(([name, { ports }]) => [name, ports]))).toEqual({
    proxy: [
      `\${GATEWAY_HOST:-127.0.0.1}:\${GATEWAY_PORT:-8080}:8080`,
      `\${SITE_HOST:-127.0.0.1}:\${SITE_PORT:-8081}:8081`,
    ],
    grafana: [`127.0.0.1:\${GRAFANA_PORT:-3000}:3000`],
  });
});

test('only the verifier, the commands and what is published have a way out', () => {
  const open = Object.keys(composeFile.networks).filter((name) => !composeFile.networks[name]?.internal);
  const withWayOut = services.filter(([, { networks }]) => networks.some((network) => open.includes(network)));
  expect(withWayOut.map(([name]) => name).sort()).toEqual(['admin', 'auth-verifier', 'grafana', 'proxy']);
});

test.each(services)('%s is restarted, kept small, and can change nothing but what it is given', (name, service) => {
  expect(service).toMatchObject({
    restart: name === 'admin' ? 'no' : 'unless-stopped',
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: expect.arrayContaining(['no-new-privileges:true']),
    logging: { driver: 'json-file', options: { 'max-size': expect.any(String), 'max-file': expect.any(String) } },
    mem_limit: expect.any(String),
    pids_limit: expect.any(Number),
  });
});

test('the images are of this version, or of a tag that names one', () => {
  for (const [name, { image }] of ownServices()) {
    const own = name === 'sweeper' ? 'admin' : name;
    const tag = own === 'proxy' ? `\${PROXY_VERSION:-2}` : `\${ECHODROP_VERSION:-${version}}`;
    expect(image).toBe(`echodrop/${own}:${tag}`);
  }
  const others = services.filter(([, { image }]) => !image.startsWith('echodrop/'));
  for (const [, { image }] of others) expect(image).toMatch(/^[\w./-]+:[^:@]*\d[^:@]*$/);
});

test('every secret comes from a file, and nobody is given one that it does not read', () => {
  const used = new Set<string>();
  for (const [name, { secrets = [], environment = {}, ...rest }] of services) {
    for (const secret of secrets) {
      used.add(secret);
      const isRead = JSON.stringify([environment, rest]).includes(`/run/secrets/${secret}`);
      expect({ name, secret, isRead }).toEqual({ name, secret, isRead: true });
    }
    for (const path of JSON.stringify(environment).matchAll(/\/run\/secrets\/([A-Z\d_]+)/g)) {
      expect(secrets).toContain(path[1]);
    }
  }
  expect([...used].sort()).toEqual(Object.keys(composeFile.secrets).sort());
});

// The names that a service asks its environment for.
function settingsOf(service: ServiceName): string[] {
  const asked = new Set<string>();
  const env = new Proxy<NodeJS.ProcessEnv>({}, { get: (_target, name) => void asked.add(String(name)) });
  try {
    configReaders[service](env);
  } catch {
    // Some are required.
  }
  return [...asked].filter((name) => !(name.endsWith('_FILE') && asked.has(name.replace(/_FILE$/, ''))));
}

// As compose would fill it in, with secrets of the right shape.
function environmentOf(service: ComposeService | undefined): NodeJS.ProcessEnv {
  const settings = Object.fromEntries(example.matchAll(/^([A-Z\d_]+)=(.*)$/gm).map(([, name, value]) => [name, value]));
  const entries = Object.entries(service?.environment ?? {}).map(([name, value]): [string, string] => {
    const [, secret] = /^\/run\/secrets\/(.*)$/.exec(value) ?? [];
    if (secret) return [secret, secret.endsWith('_REDIS_URL') ? 'redis://:password@redis:6379' : `a secret: ${secret}`];
    const filledIn = value.replace(/\$\{([A-Z\d_]+)(?::([-?+])([^}]*))?\}/g, (_all, of, how, or = '') =>
      how === '+' ? (settings[of] ? or : '') : (settings[of] ?? or),
    );
    return [name, filledIn];
  });
  return Object.fromEntries(entries);
}
