import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { availableAllocator } from '@echodrop/build/allocator';
import { nodeFlagsOf } from '@echodrop/build/entry-of';
import { freePort } from '@echodrop/testkit/free-ports';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { sandbox } from '@echodrop/testkit/start-stack';
import { accepts, type SharedServers } from './shared-servers.ts';
import type { SystemKind } from './upload-request.ts';

export const uploadServices = ['gateway', 'auth-verifier', 'probe-worker'] as const;
export const measuredServices = [...uploadServices, 'rendition-worker', 'site'] as const;
export type ServiceName = (typeof measuredServices)[number];

/** A peer, or Echodrop. */
export interface System extends AsyncDisposable {
  readonly kind: SystemKind;
  /** Distinguishes systems of one run. */
  readonly name: string;
  /** Where uploads go. */
  readonly ports: readonly number[];
  /** Where pages are, if the site runs. */
  readonly sitePort?: number;
  /** Where metrics are, by service; of several processes, the last one's. */
  readonly opsPorts?: Readonly<Record<string, number>>;
  readonly bucket: string;
  /** Process ids, by service. */
  readonly processes: Readonly<Record<string, readonly number[]>>;
  readonly redis?: RunningRedis;
}

export interface EchodropOptions {
  /** The checkout whose services run: as they are built in `built/`, as images run them, else from sources. */
  readonly root: string;
  readonly name?: string;
  readonly gateways?: number;
  readonly services?: readonly ServiceName[];
  readonly settings?: Record<string, string>;
  /** Programs of services, instead of those of the checkout. */
  readonly programs?: ReadonlyMap<ServiceName, string>;
  /** A folder for CPU profiles of each service. */
  readonly profiles?: string | undefined;
}

/** Starts Echodrop from a checkout, with a Redis of its own, and waits until it is ready. Without a rendition-worker, renditions only queue up. */
export async function startEchodrop(shared: SharedServers, options: EchodropOptions): Promise<System> {
  const {
    root,
    name = 'echodrop',
    gateways = 1,
    services = uploadServices,
    settings = {},
    programs,
    profiles,
  } = options;
  await using resources = new AsyncDisposableStack();
  // As deployments run it (deploy/local/local-redis.ts).
  const redis = resources.use(await startRedis({ more: { hz: '2' } }));
  const bucket = shared.newBucket(name);
  const verifierPort = await freePort();
  const sitePort = await freePort();
  const env = {
    ...shared.env,
    ...availableAllocator(),
    S3_BUCKET: bucket,
    OBJECT_STORE: 's3',
    REDIS_URL: redis.url,
    IDENTITY_PROVIDERS: shared.identityProviders,
    SCRATCH_DIR: shared.folder,
    VERIFIER_URL: `http://127.0.0.1:${verifierPort}`,
    VERIFIER_SECRET: 'a secret of the bench',
    CACHE_KEY_SECRET: 'another secret of the bench',
    USER_ID_SECRET: 'a third secret of the bench',
    PROBE_QUEUE_SECRET: 'a fourth secret of the bench',
    RENDITION_QUEUE_SECRET: 'a fifth secret of the bench',
    API_KEYS: sandbox.apiKey,
    MAX_MEDIA_BYTES: `${2 ** 31}`,
    MAX_CONCURRENT_UPLOADS_PER_USER: '1000',
    // Never reached, but counted as usual.
    UPLOADS_PER_MINUTE_PER_USER: '1000000',
    ...settings,
  };
  const processes: Record<string, number[]> = {};
  const opsPorts: Record<string, number> = {};
  const start = async (service: ServiceName, port: number) => {
    const opsPort = await freePort();
    const flags = profiles ? ['--cpu-prof', `--cpu-prof-dir=${join(profiles, `${name}-${service}`)}`] : [];
    const built = join(resolve(root), 'built', service, 'main.js');
    const source = join(resolve(root), 'services', service, 'src/main.ts');
    const main = programs?.get(service) ?? (existsSync(built) ? built : source);
    const running = await ServerProcess.start({
      command: shared.silently([...nodeFlagsOf(service), ...flags, main]),
      env: { ...env, PORT: `${port}`, OPS_PORT: `${opsPort}` },
      isReady: () => fetch(`http://127.0.0.1:${opsPort}/readyz`).then(({ ok }) => ok),
    });
    // A profile is written at a graceful end.
    resources.defer(() => (profiles ? running.stop() : running.kill()));
    processes[service] = [...(processes[service] ?? []), running.pid ?? 0];
    opsPorts[service] = opsPort;
  };
  if (profiles) await mkdir(profiles, { recursive: true });
  const ports = await Promise.all(Array.from({ length: gateways }, () => freePort()));
  const portsOf = async (service: ServiceName) => {
    if (service === 'gateway') return ports;
    return [{ 'auth-verifier': verifierPort, site: sitePort }[service as string] ?? (await freePort())];
  };
  await Promise.all(
    services.map(async (service) => Promise.all((await portsOf(service)).map((port) => start(service, port)))),
  );
  const disposables = resources.move();
  return {
    kind: 'echodrop',
    name,
    ports,
    sitePort,
    opsPorts,
    bucket,
    processes,
    redis,
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
}

/** Starts a peer in one process or several. */
export async function startPeer(shared: SharedServers, kind: 'naive' | 'pass-through', count = 1): Promise<System> {
  await using resources = new AsyncDisposableStack();
  const bucket = shared.newBucket(kind);
  const program = { naive: 'stand-ins/naive-server.ts', 'pass-through': 'stand-ins/pass-through.ts' }[kind];
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
  const pids: number[] = [];
  for (const port of ports) {
    const running = await ServerProcess.start({
      command: shared.silently([join(import.meta.dirname, program)]),
      env: { ...shared.env, S3_BUCKET: bucket, PORT: `${port}` },
      isReady: () => accepts(port),
    });
    resources.defer(() => running.kill());
    pids.push(running.pid ?? 0);
  }
  const disposables = resources.move();
  return {
    kind,
    name: kind,
    bucket,
    ports,
    processes: { [kind]: pids },
    [Symbol.asyncDispose]: () => disposables.disposeAsync(),
  };
}
