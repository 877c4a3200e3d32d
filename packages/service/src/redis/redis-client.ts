import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { RefusedSetting } from '../refused-setting.ts';
import type { RedisAddress } from './redis-address.ts';

/** One server, or a cluster, where each command goes to the node that holds its key. */
export type RedisClient = Redis | Cluster;
export type RedisNode = Redis;

const backoffStepMs = 100;
const maxBackoffMs = 1000;
// With this interval, a client detects a failover even if the failed node closes no connection.
const slotsRefreshMs = 5000;

const backoffMs = (attempt: number) => Math.min(attempt * backoffStepMs, maxBackoffMs);

/** The current connections: the client itself, or one per master of a cluster. */
export function nodesOf(client: RedisClient): readonly RedisNode[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/** Calls `onNode` with the connection of each node, later ones included. */
export function onEachNode(client: RedisClient, onNode: (node: RedisNode) => void): void {
  if (client instanceof Cluster) client.on('+node', onNode);
  else onNode(client);
}

/** A client for `address` that reconnects by itself. `options` apply to each connection. */
export function createRedisClient(address: RedisAddress, options: RedisOptions): RedisClient {
  if (address.kind === 'cluster') return new Cluster([...address.hosts], clusterOptions(address, options));
  if (address.kind === 'server') return requireDatabase(new Redis(address.url, { ...options, ...serverOptions }));
  return requireDatabase(new Redis({ ...options, ...serverOptions, ...sentinelOptions(address, options) }));
}

/** An error that says what to do, if `error` says that the server refused the database of the address. */
export function databaseRefusal(
  error: Error & { command?: { name: string; args: unknown[] } },
): RefusedSetting | undefined {
  if (error.command?.name !== 'select') return undefined;
  return new RefusedSetting(
    `Redis refused database ${error.command.args[0]} of the address (${error.message}). Use a number that this server has, ` +
      'or database 0 with a REDIS_PREFIX of its own',
    { cause: error },
  );
}

/** Disconnects a client, and its duplicates, whose database the server refuses, to try again later: ioredis would go on in database 0. */
function requireDatabase(client: Redis): Redis {
  const duplicate = client.duplicate.bind(client);
  client.on('error', (error) => {
    if (databaseRefusal(error)) client.disconnect(true);
  });
  return Object.assign(client, {
    duplicate: (...overrides: Parameters<Redis['duplicate']>) => requireDatabase(duplicate(...overrides)),
  });
}

const serverOptions: RedisOptions = {
  retryStrategy: backoffMs,
  // This error says that the master has become a replica.
  reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
};

function sentinelOptions(address: RedisAddress & { kind: 'sentinel' }, options: RedisOptions): RedisOptions {
  const { hosts, master: name, db, isTls, username, password } = address;
  return {
    sentinels: [...hosts],
    name,
    db,
    sentinelRetryStrategy: backoffMs,
    // A hanging sentinel must not prevent a query of the next.
    ...(options.connectTimeout && { sentinelCommandTimeout: options.connectTimeout }),
    ...(username && { username, sentinelUsername: username }),
    ...(password && { password, sentinelPassword: password }),
    ...(isTls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

function clusterOptions(address: RedisAddress & { kind: 'cluster' }, options: RedisOptions): ClusterOptions {
  const { isTls, username, password } = address;
  const { enableOfflineQueue = true, commandTimeout, ...nodeOptions } = options;
  return {
    clusterRetryStrategy: backoffMs,
    enableOfflineQueue,
    // If the check fails, `connect` never settles, and BullMQ waits for it. An incomplete cluster rejects each command anyway.
    enableReadyCheck: false,
    // Retries a command every 100 ms until a failover is complete, within its timeout if it has one.
    maxRedirections: commandTimeout ? Math.ceil(commandTimeout / backoffStepMs) : Number.POSITIVE_INFINITY,
    retryDelayOnFailover: backoffStepMs,
    retryDelayOnClusterDown: backoffStepMs,
    retryDelayOnTryAgain: backoffStepMs,
    slotsRefreshInterval: slotsRefreshMs,
    // Each connection resolves names itself, so that certificates are checked against names.
    dnsLookup: (host, found) => found(null, host),
    redisOptions: {
      ...nodeOptions,
      ...(commandTimeout && { commandTimeout }),
      ...(username && { username }),
      ...(password && { password }),
      ...(isTls && { tls: {} }),
    },
  };
}
