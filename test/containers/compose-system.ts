import { chmod, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { sandbox } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';

export const root = resolve(import.meta.dirname, '../..');

/** The version that the images of these tests are given, so that an operator's own stay as they are. */
export const version = '0.0.0-containers-test';
export const revision = 'a'.repeat(40);
export const source = 'https://code.example/echodrop';

const buildMs = 20 * 60_000;
const upMs = 5 * 60_000;

/** The system of docker-compose.yml under a name of its own, on free ports, with settings and secrets in a temporary folder. */
export interface ComposeSystem extends AsyncDisposable {
  readonly gateway: string;
  readonly site: string;
  /** The address that the sandbox provider advertises. */
  readonly provider: string;
  readonly folder: string;
  /** By which `docker compose`, and what calls it, finds this system. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `docker compose` for this system and gives what it prints. */
  compose(...words: string[]): Promise<string>;
  /** The ids of a service's containers, in the order of their numbers. */
  containersOf(service: string): Promise<string[]>;
  /** Waits until every container of a service says that it is ready. */
  healthy(service: string): Promise<void>;
}

/** Builds all images. Returns the seconds that it took. */
export async function buildImages(): Promise<number> {
  const before = performance.now();
  const env = {
    ...machine(),
    ...required,
    ...tags,
    ECHODROP_REVISION: revision,
    ECHODROP_SOURCE: source,
  };
  const command = ['compose', '--env-file', '/dev/null', '--profile', 'sandbox', 'build'];
  await execa('docker', command, { cwd: root, env, extendEnv: false, timeout: buildMs });
  return (performance.now() - before) / 1000;
}

/** Brings everything up and waits until all of it is ready. Disposing takes it down with all that it kept. */
export async function startCompose(settings: Record<string, string> = {}): Promise<ComposeSystem> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-compose-'))).path;
  await chmod(folder, 0o755);
  const ports = await freePorts(['gateway', 'site', 'sandbox']);
  const project = `echodrop-test-${process.pid}`;
  const site = `http://127.0.0.1:${ports.site}`;
  const env = {
    ...required,
    PUBLIC_SITE_URL: site,
    GATEWAY_PORT: `${ports.gateway}`,
    SITE_PORT: `${ports.site}`,
    SANDBOX_PORT: `${ports.sandbox}`,
    ...signInAt(`http://127.0.0.1:${ports.sandbox}`),
    WEB_UPLOAD: '1',
    UPLOAD_URL: `http://127.0.0.1:${ports.gateway}`,
    CORS_ORIGINS: site,
    WEB_UPLOAD_API_KEY: 'web-upload',
    SECRETS_DIR: join(folder, 'secrets'),
    COMPOSE_PROFILES: 'sandbox',
    UPLOADS_PER_MINUTE_PER_USER: '0',
    ...tags,
    ...settings,
  };
  await makeSecrets(env.SECRETS_DIR);
  const envFile = join(folder, 'env');
  await writeFile(
    envFile,
    Object.entries(env)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const found = { ...machine(), COMPOSE_PROJECT_NAME: project, COMPOSE_ENV_FILES: envFile };
  const compose = async (...words: string[]) => {
    const options = { cwd: root, env: found, extendEnv: false, timeout: upMs };
    return (await execa('docker', ['compose', ...words], options)).stdout;
  };
  const containersOf = async (service: string) => {
    const ids = (await compose('ps', '--all', '--quiet', service)).split('\n').filter(Boolean);
    return ids;
  };
  parts.defer(async () => {
    await compose('--profile', '*', 'down', '--volumes', '--remove-orphans', '--timeout', '5');
  });
  await compose('up', '--detach', '--no-build', '--wait', '--wait-timeout', `${upMs / 1000}`);
  const held = parts.move();
  return {
    gateway: `http://127.0.0.1:${ports.gateway}`,
    site,
    provider: required.IDENTITY_PROVIDERS,
    folder,
    env: found,
    compose,
    containersOf,
    healthy: (service) =>
      waitUntil(`${service} in health`, 90_000, async () => {
        const ids = await containersOf(service);
        const { stdout } = await execa('docker', [
          'inspect',
          '--format',
          '{{.State.Status}} {{with .State.Health}}{{.Status}}{{end}}',
          ...ids,
        ]);
        return stdout.split('\n').every((state) => /^running (healthy)?$/.test(state));
      }),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Runs a command in the container of a service. @returns what it prints */
export function execIn({ compose }: ComposeSystem, service: string, ...command: string[]): Promise<string> {
  return compose('exec', '-T', service, ...command);
}

/** Runs a Redis command as the operator. @returns what redis-cli prints */
export async function redisCommand(
  { compose, folder }: ComposeSystem,
  service: string,
  ...words: string[]
): Promise<string> {
  const password = await readFile(join(folder, 'secrets/REDIS_OPERATOR_PASSWORD'), 'utf8');
  const command = ['redis-cli', '--user', 'operator', ...words];
  return compose('exec', '-T', '-e', `REDISCLI_AUTH=${password.trim()}`, service, ...command);
}

const tags = { ECHODROP_VERSION: version, PROXY_VERSION: version };

const required = {
  PUBLIC_SITE_URL: 'http://127.0.0.1:8081',
  IDENTITY_PROVIDERS: 'http://sandbox-provider:8085/1/account/verify_credentials.json',
};

// As in .env.example: browsers reach the sandbox at its published port, and the auth-verifier in its own network.
function signInAt(published: string): Record<string, string> {
  const path = '/api/v1/accounts/verify_credentials';
  const provider = published + path;
  return {
    IDENTITY_PROVIDERS: `${required.IDENTITY_PROVIDERS}, mastodon ${provider}=http://sandbox-provider:8085${path}`,
    WEB_SIGN_IN: JSON.stringify([{ name: 'Sandbox', profile: 'mastodon', provider }]),
  };
}

// What docker itself needs, and none of the variables that compose would fill in.
function machine(): Record<string, string> {
  const names = ['PATH', 'HOME', 'DOCKER_HOST', 'DOCKER_CONFIG', 'DOCKER_CONTEXT'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function makeSecrets(folder: string): Promise<void> {
  await execa(join(root, 'deploy/make-secrets'), { env: { SECRETS_DIR: folder } });
  await execa('sh', ['-c', 'rm API_KEYS && echo "$1" >API_KEYS', 'sh', sandbox.apiKey], { cwd: folder });
}
