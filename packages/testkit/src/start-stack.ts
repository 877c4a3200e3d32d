import { mkdtempDisposable, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableAllocator } from '@echodrop/build/allocator';
import { nodeFlagsOf } from '@echodrop/build/entry-of';
import { buildServices, builtService } from './built-service.ts';
import { freePort, freePorts } from './free-ports.ts';
import { patientSettings } from './patience.ts';
import { ServerProcess } from './servers/server-process.ts';
import { startSpreadingProxy } from './servers/spreading-proxy.ts';
import { type RunningRedis, startRedis } from './servers/start-redis.ts';

const serving = ['sandbox-provider', 'auth-verifier', 'gateway', 'site'] as const;
const working = ['probe-worker', 'rendition-worker'] as const;
const all = [...serving, ...working];

export type ServiceName = (typeof all)[number];

/** The credentials of the sandbox provider's one user, and the API key of the stack. */
export const sandbox = {
  consumer: { key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' },
  token: { key: '12345-sandbox', secret: 'sandbox-token-secret' },
  userId: 12345,
  screenName: 'sandbox',
  apiKey: 'sandbox-key',
} as const;

/** The secrets that seal the jobs and replies of the stack. */
export const queueSecrets = {
  PROBE_QUEUE_SECRET: 'a secret of the probes of test stacks',
  RENDITION_QUEUE_SECRET: 'a secret of the renditions of test stacks',
} as const;

interface StackOptions {
  /** Settings for every service. */
  readonly settings?: Record<string, string> | ((at: StackAddresses) => Record<string, string>);
  /** Settings for one service alone. */
  readonly of?: Partial<Record<ServiceName, Record<string, string>>>;
  /** The services to start. Default: all. */
  readonly services?: readonly ServiceName[];
  /** The number of auth-verifiers, which get connections in turn. */
  readonly verifiers?: number;
  /** A running stack that these services join. They share its Redis, its folder and its other services. */
  readonly beside?: Stack;
}

interface StackAddresses {
  readonly gateway: string;
  readonly site: string;
  readonly provider: string;
}

/** The whole system on free loopback ports. Each service is a process that tests can freeze, kill and restart. */
export interface Stack extends AsyncDisposable {
  readonly gateway: string;
  /** The address of the auth-verifier, or of a proxy that spreads connections to all of them. */
  readonly verifier: string;
  readonly site: string;
  /** The advertised address of the sandbox provider, which clients sign. */
  readonly provider: string;
  /** The address of its Mastodon API, for bearer tokens. */
  readonly bearerProvider: string;
  readonly redis: RunningRedis;
  readonly services: Record<ServiceName, ServerProcess>;
  /** The address of the ops server of a service. */
  readonly ops: (service: ServiceName) => string;
  /** The metrics of a service, as text. */
  readonly metrics: (service: ServiceName) => Promise<string>;
  /** A folder that is removed with the stack; contains the filesystem store in `store`. */
  readonly folder: string;
  /** The names of objects of a kind in the filesystem store. */
  readonly stored: (kind: 'media' | 'records' | 'renditions') => Promise<string[]>;
}

/** Starts the system and waits until every service is ready. */
export async function startStack({
  settings = {},
  of = {},
  services = all,
  verifiers = 1,
  beside,
}: StackOptions = {}): Promise<Stack> {
  await buildServices(services);
  await using parts = new AsyncDisposableStack();
  const redis = beside?.redis ?? parts.use(await startRedis());
  const folder = beside?.folder ?? parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-stack-'))).path;
  const ports = await freePorts(serving);
  const opsPorts = await freePorts(all);
  const verifierPorts = [
    ports['auth-verifier'],
    ...(await Promise.all(Array.from({ length: verifiers - 1 }, () => freePort()))),
  ];
  const spreading = verifiers > 1 ? parts.use(await startSpreadingProxy(verifierPorts)) : undefined;
  const at = (port: number) => `http://127.0.0.1:${port}`;
  const own = {
    gateway: at(ports.gateway),
    site: at(ports.site),
    verifier: at(spreading?.port ?? ports['auth-verifier']),
    provider: `${at(ports['sandbox-provider'])}/1/account/verify_credentials.json`,
    bearerProvider: `${at(ports['sandbox-provider'])}/api/v1/accounts/verify_credentials`,
  };
  const whose = (service: ServiceName) => (services.includes(service) ? own : (beside ?? own));
  const { site } = whose('site');
  const { verifier } = whose('auth-verifier');
  const { provider, bearerProvider } = whose('sandbox-provider');
  const common = {
    ...availableAllocator(),
    REDIS_URL: redis.url,
    OBJECT_STORE: 'filesystem',
    OBJECT_STORE_DIR: join(folder, 'store'),
    SCRATCH_DIR: folder,
    PUBLIC_SITE_URL: site,
    UPLOAD_URL: whose('gateway').gateway,
    CORS_ORIGINS: site,
    VERIFIER_URL: verifier,
    VERIFIER_SECRET: 'a secret of this test stack',
    CACHE_KEY_SECRET: 'another secret of this test stack',
    USER_ID_SECRET: 'a third secret of this test stack',
    ...queueSecrets,
    API_KEYS: sandbox.apiKey,
    IDENTITY_PROVIDERS: `${provider}, mastodon ${bearerProvider}`,
    LOG_LEVEL: 'warn',
    // All tests upload as one user.
    UPLOADS_PER_MINUTE_PER_USER: '0',
    ...patientSettings,
    ...(typeof settings === 'function' ? settings(own) : settings),
  };
  const start = async (name: ServiceName, port?: number, opsPort = opsPorts[name]) => {
    const program = await builtService(name);
    const own = { ...(port ? { PORT: String(port) } : {}), OPS_PORT: String(opsPort), ...of[name] };
    const env = { ...common, ...own };
    const isReady = () => fetch(`${at(opsPort)}/readyz`).then(({ ok }) => ok);
    const command: [string, ...string[]] = [process.execPath, ...nodeFlagsOf(name), program];
    return parts.use(await ServerProcess.start({ command, env, isReady }));
  };
  const started = await Promise.all(
    services.map(async (name) => [name, await start(name, Reflect.get(ports, name))] as const),
  );
  await Promise.all(verifierPorts.slice(1).map(async (port) => start('auth-verifier', port, await freePort())));
  const held = parts.move();
  return {
    gateway: at(ports.gateway),
    verifier: common.VERIFIER_URL,
    site,
    provider,
    bearerProvider,
    redis,
    services: Object.fromEntries(started) as Record<ServiceName, ServerProcess>,
    ops: (service) => at(opsPorts[service]),
    metrics: async (service) => (await fetch(`${at(opsPorts[service])}/metrics`)).text(),
    folder,
    stored: (kind) => readdir(join(folder, 'store/objects', kind)).catch(() => []),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}
