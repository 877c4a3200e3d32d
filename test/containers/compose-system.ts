import { chmod, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { sandbox } from '@echodrop/testkit/start-stack';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';

export const root = resolve(import.meta.dirname, '../..');

/** The image version of these tests, so that they do not replace images of the operator. */
export const version = '0.0.0-containers-test';
export const revision = 'a'.repeat(40);
export const source = 'https://code.example/echodrop';

const buildMs = 20 * 60_000;
const upMs = 5 * 60_000;

/** The system of docker-compose.yml as a separate project, on free ports, with settings and secrets in a temporary folder. */
export interface ComposeSystem extends AsyncDisposable {
  readonly gateway: string;
  readonly site: string;
  /** The address that the sandbox provider advertises. */
  readonly provider: string;
  readonly folder: string;
  /** The environment in which `docker compose` finds this system. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs `docker compose` for this system. @returns its output */
  compose(...words: string[]): Promise<string>;
  /** The container ids of a service, in order of their numbers. */
  containersOf(service: string): Promise<string[]>;
  /** Waits until every container of a service is healthy. */
  healthy(service: string): Promise<void>;
}

/** Builds all images: those of Compose, and the whole system in one. @returns the duration in seconds */
export async function buildImages(): Promise<number> {
  const before = performance.now();
  const env = {
    ...dockerEnv(),
    ...required,
    ...tags,
    ECHODROP_REVISION: revision,
    ECHODROP_SOURCE: source,
  };
  const command = ['compose', '--env-file', '/dev/null', '--profile', 'sandbox', 'build'];
  const options = { cwd: root, env, extendEnv: false, timeout: buildMs };
  await execa('docker', command, options);
  const args = { SERVICE: 'all', REVISION: revision, SOURCE: source };
  const words = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  await execa(
    'docker',
    ['build', '--file', 'deploy/Dockerfile', '--tag', `echodrop/all:${version}`, ...words, '.'],
    options,
  );
  return (performance.now() - before) / 1000;
}

/** Starts everything and waits until it is healthy. Disposing removes it with its volumes. */
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
  const composeEnv = { ...dockerEnv(), COMPOSE_PROJECT_NAME: project, COMPOSE_ENV_FILES: envFile };
  const compose = async (...words: string[]) => {
    const options = { cwd: root, env: composeEnv, extendEnv: false, timeout: upMs };
    return (await execa('docker', ['compose', ...words], options)).stdout;
  };
  const containersOf = async (service: string) =>
    (await compose('ps', '--all', '--quiet', service)).split('\n').filter(Boolean);
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
    env: composeEnv,
    compose,
    containersOf,
    healthy: (service) =>
      waitUntil(
        `healthy ${service}`,
        async () => {
          const ids = await containersOf(service);
          const { stdout } = await execa('docker', [
            'inspect',
            '--format',
            '{{.State.Status}} {{with .State.Health}}{{.Status}}{{end}}',
            ...ids,
          ]);
          return stdout.split('\n').every((state) => /^running (healthy)?$/.test(state));
        },
        270_000,
      ),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** Runs a command in the container of a service. @returns its output */
export function execIn({ compose }: ComposeSystem, service: string, ...command: string[]): Promise<string> {
  return compose('exec', '-T', service, ...command);
}

/** Runs a Redis command as the operator. @returns the output of redis-cli */
export async function redisCommand(
  { compose, folder }: ComposeSystem,
  service: string,
  ...words: string[]
): Promise<string> {
  const password = await readFile(join(folder, 'secrets/REDIS_OPERATOR_PASSWORD'), 'utf8');
  const command = ['redis-cli', '--user', 'operator', ...words];
  return compose('exec', '-T', '-e', `REDISCLI_AUTH=${password.trim()}`, service, ...command);
}

/** The image versions of these tests, as Compose reads them. */
export const tags = { ECHODROP_VERSION: version, PROXY_VERSION: version };

const required = {
  PUBLIC_SITE_URL: 'http://127.0.0.1:8081',
  IDENTITY_PROVIDERS: 'http://sandbox-provider:8085/1/account/verify_credentials.json',
};

// As in .env.example: browsers use the published port of the sandbox, the auth-verifier its internal address.
function signInAt(published: string): Record<string, string> {
  const path = '/api/v1/accounts/verify_credentials';
  const provider = published + path;
  return {
    IDENTITY_PROVIDERS: `${required.IDENTITY_PROVIDERS}, mastodon ${provider}=http://sandbox-provider:8085${path}`,
    WEB_SIGN_IN: JSON.stringify([{ name: 'Sandbox', profile: 'mastodon', provider }]),
  };
}

/** Only what docker itself needs, so that compose interpolates no other variable. */
export function dockerEnv(): Record<string, string> {
  const names = ['PATH', 'HOME', 'DOCKER_HOST', 'DOCKER_CONFIG', 'DOCKER_CONTEXT'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

async function makeSecrets(folder: string): Promise<void> {
  await execa(join(root, 'deploy/make-secrets'), { env: { SECRETS_DIR: folder } });
  await execa('sh', ['-c', 'rm API_KEYS && echo "$1" >API_KEYS', 'sh', sandbox.apiKey], { cwd: folder });
}
