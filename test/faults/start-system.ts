import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHabitProxy } from '@echodrop/object-store/habit-proxy.fixture';
import type { Habit } from '@echodrop/object-store/habits.fixture';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings, storeSettings } from '@echodrop/object-store/object-store-from-settings';
import { readSettings } from '@echodrop/service/env';
import { type Fate, type SeenRequest, startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { findMinio } from '@echodrop/testkit/servers/minio-source';
import type { ServerProcess, StoppableServer } from '@echodrop/testkit/servers/server-process';
import { type SpreadingProxy, startSpreadingProxy } from '@echodrop/testkit/servers/spreading-proxy';
import { startMinio, startMinioSet } from '@echodrop/testkit/servers/start-minio';
import { type RunningRedis, startRedis } from '@echodrop/testkit/servers/start-redis';
import { type RedisSet, startSentinelSet } from '@echodrop/testkit/servers/start-redis-set';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { makeClock, type OwnClock } from './clocks.ts';
import { missingForDisks, mountSmallDisk } from './small-disk.ts';

/**
 * One process of everything; or two of each service, a Redis with replicas and sentinels, a store of four nodes, a folder as the store, or a clock
 * that verifier, workers and site share.
 */
export type SystemKind = 'one of each' | 'two of each' | 'sentinels' | 'four nodes' | 'folder' | 'own clock';

/** A process of a service. */
export interface RunningService {
  readonly name: ServiceName;
  readonly server: ServerProcess;
  /** The address of its ops server. */
  readonly ops: string;
}

const links = ['queue-redis', 'cache-redis', 'store', 'verifier'] as const;

type LinkName = (typeof links)[number];

/** The system under test: real processes, with a proxy in front of every component that others call. */
export interface System extends AsyncDisposable {
  /** The addresses for uploads. Scenarios may add more temporarily. */
  readonly gateways: string[];
  readonly site: string;
  readonly provider: string;
  readonly bearerProvider: string;
  readonly services: readonly RunningService[];
  /** Every process that can be killed and frozen, by name; of several replicas, the first. */
  readonly servers: Readonly<Record<string, StoppableServer>>;
  /** All nodes of the store. */
  readonly nodes: readonly StoppableServer[];
  readonly queueRedis: RunningRedis;
  readonly cacheRedis: RunningRedis;
  readonly redisSet: RedisSet | undefined;
  /** The TCP links between components. */
  readonly links: Readonly<Record<LinkName, SpreadingProxy>>;
  /** The parent of the scratch folders of all workers. */
  readonly scratch: string;
  /** The separate disk of a store with four nodes or of a folder, if this machine can mount one. */
  readonly storeDisk: string | undefined;
  /** The store, without proxy. */
  readonly store: ObjectStore;
  /** The clock that verifier, workers and site share, if not the machine's. */
  readonly clock: OwnClock | undefined;
  /** Sets what happens to further requests to the store. */
  decide(fate: (request: SeenRequest) => Fate): void;
  /** The requests to the store since the last call. */
  takeSeen(): SeenRequest[];
  /** Starts another process of a service with additional settings. */
  join(service: ServiceName, settings: Record<string, string>): Promise<Stack>;
}

const replicated: readonly ServiceName[] = ['auth-verifier', 'probe-worker', 'rendition-worker', 'site', 'gateway'];

/** Starts a system of this kind, whose store has `habits`, and waits until it is ready. @throws Error without a MinIO program */
export async function startSystem(kind: SystemKind, scratch: string, habits: readonly Habit[]): Promise<System> {
  await using parts = new AsyncDisposableStack();
  const isFolder = kind === 'folder';
  const mayFill = (isFolder || kind === 'four nodes') && (await missingForDisks()) === undefined;
  const storeDisk = mayFill ? parts.use(await mountSmallDisk()).path : undefined;
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-system-'))).path;
  const clock = kind === 'own clock' ? await makeClock(folder) : undefined;
  const nodes = isFolder ? [] : await startStore(kind, storeDisk, parts);
  const [minio] = nodes;
  const nodePorts = nodes.map(({ endpoint }) => portOf(endpoint));
  const persistent = { persistent: true } as const;
  const [queueRedis, cacheRedis] = await Promise.all([startRedis(persistent), startRedis()]);
  parts.use(queueRedis);
  parts.use(cacheRedis);
  const redisSet = kind === 'sentinels' ? parts.use(await startSentinelSet()) : undefined;
  const link = async (...ports: number[]) => parts.use(await startSpreadingProxy(ports));
  const toStore = await link(...nodePorts);
  const direct = await link(...nodePorts);
  const toQueue = await link(queueRedis.port);
  const toCache = await link(cacheRedis.port);
  let fate: (request: SeenRequest) => Fate = () => 'passes';
  const linked = at(toStore.port);
  const hasHabits = minio && habits.length > 0;
  const toHabits = hasHabits ? parts.use(await startHabitProxy({ ...minio, endpoint: linked }, habits)) : undefined;
  const proxy = parts.use(await startCountingProxy(toHabits?.endpoint ?? linked, (request) => fate(request)));
  // The address differs between the proxied and the direct path.
  const storeAt = (endpoint: string): Record<string, string> =>
    minio
      ? { ...minio.settings, S3_ENDPOINT: endpoint }
      : { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: join(storeDisk ?? folder, 'store') };
  const settings = {
    ...storeAt(proxy.endpoint),
    QUEUE_REDIS_URL: redisSet?.url ?? redisAt(toQueue),
    CACHE_REDIS_URL: redisAt(toCache),
    SCRATCH_DIR: scratch,
    MAX_CONCURRENT_UPLOADS_PER_USER: '1000',
    // Short, so that a claim of a killed gateway expires soon.
    PROBE_TIMEOUT_MS: '8000',
    ...(kind === 'two of each' && { SHUTDOWN_DELAY_SECONDS: '1' }),
  };
  const beforeGateway = replicated.filter((name) => name !== 'gateway');
  const first = parts.use(
    await startStack({
      services: ['sandbox-provider', ...beforeGateway],
      settings,
      of: Object.fromEntries(beforeGateway.map((name) => [name, clock?.settings ?? {}])),
    }),
  );
  const others = kind === 'two of each' ? [await second(first)] : [];
  const verifiers = [first, ...others].map(({ verifier }) => portOf(verifier));
  const toVerifier = await link(...verifiers);
  const behind = { ...settings, VERIFIER_URL: at(toVerifier.port) };
  const gateway = async () => parts.use(await startStack({ beside: first, services: ['gateway'], settings: behind }));
  const gateways = await Promise.all(kind === 'two of each' ? [gateway(), gateway()] : [gateway()]);
  const store = parts.use(await objectStoreFromSettings(readSettings(storeSettings, storeAt(at(direct.port)))));
  const services = [
    ...servicesOf(first, ['sandbox-provider', ...beforeGateway]),
    ...others.flatMap((stack) => servicesOf(stack, beforeGateway)),
    ...gateways.flatMap((stack) => servicesOf(stack, ['gateway'])),
  ];
  const held = parts.move();
  return {
    gateways: gateways.map((stack) => stack.gateway),
    site: first.site,
    provider: first.provider,
    bearerProvider: first.bearerProvider,
    services,
    nodes: nodes.map(({ server }) => server),
    servers: {
      // The first of each name.
      ...Object.fromEntries(services.map(({ name, server }) => [name, server] as const).reverse()),
      'queue-redis': queueRedis,
      'cache-redis': cacheRedis,
      ...(minio && { minio: minio.server }),
    },
    queueRedis,
    cacheRedis,
    redisSet,
    scratch,
    storeDisk,
    store,
    clock,
    links: { 'queue-redis': toQueue, 'cache-redis': toCache, store: toStore, verifier: toVerifier },
    decide(next) {
      fate = next;
    },
    takeSeen: () => proxy.seen.splice(0),
    join: (service, own) => startStack({ beside: first, services: [service], settings: { ...behind, ...own } }),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };

  async function second(beside: Stack): Promise<Stack> {
    return parts.use(await startStack({ beside, services: beforeGateway, settings }));
  }
}

async function startStore(kind: SystemKind, disk: string | undefined, parts: AsyncDisposableStack) {
  const source = await findMinio();
  if (source?.kind !== 'program') throw new Error('these tests stop MinIO: set MINIO_BIN, or provide minio in PATH');
  if (kind === 'four nodes') return parts.use(await startMinioSet(source.path, disk)).nodes;
  const minio = parts.use(await startMinio(source));
  return minio.server ? [{ ...minio, server: minio.server }] : [];
}

function servicesOf(stack: Stack, names: readonly ServiceName[]): RunningService[] {
  return names.map((name) => ({ name, server: stack.services[name], ops: stack.ops(name) }));
}

function at(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function redisAt({ port }: SpreadingProxy): string {
  return `redis://127.0.0.1:${port}`;
}

function portOf(address: string): number {
  return Number(new URL(address).port);
}
