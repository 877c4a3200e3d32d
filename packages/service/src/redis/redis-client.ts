import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from './redis-address.ts';

/** One server (which sentinels may have named), or a cluster, where each command goes to the node that holds its key. */
export type RedisClient = Redis | Cluster;
export type RedisNode = Redis;

const againMs = 100;
const mostAgainMs = 1000;
// Tells of a failover where the node that is gone closes no connection.
const slotsRefreshMs = 5000;

const again = (attempt: number) => Math.min(attempt * againMs, mostAgainMs);

/** The connection of each node that `client` has now: itself, or a cluster's masters. */
export function nodesOf(client: RedisClient): readonly RedisNode[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

/** Calls `found` with the connection of each node, also of those that a cluster gets later. */
export function onEachNode(client: RedisClient, found: (node: RedisNode) => void): void {
  if (client instanceof Cluster) client.on('+node', found);
  else found(client);
}

/** A client for `address` that always comes back by itself. `manner` is of each connection that it makes. */
export function createRedisClient(address: RedisAddress, manner: RedisOptions): RedisClient {
  if (address.kind === 'server') return new Redis(address.url, { ...manner, ...ofOne });
  if (address.kind === 'cluster') return new Cluster([...address.hosts], ofCluster(address, manner));
  return new Redis({ ...manner, ...ofOne, ...bySentinels(address, manner) });
}

const ofOne: RedisOptions = {
  retryStrategy: again,
  // A master that was made a replica while we were connected to it.
  reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
};

function bySentinels(address: RedisAddress & { kind: 'sentinel' }, manner: RedisOptions): RedisOptions {
  const { hosts, master: name, db, tls, username, password } = address;
  return {
    sentinels: [...hosts],
    name,
    db,
    sentinelRetryStrategy: again,
    // One that hangs must not keep us from asking the next.
    ...(manner.connectTimeout && { sentinelCommandTimeout: manner.connectTimeout }),
    ...(username && { username, sentinelUsername: username }),
    ...(password && { password, sentinelPassword: password }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
  };
}

function ofCluster(address: RedisAddress & { kind: 'cluster' }, manner: RedisOptions): ClusterOptions {
  const { tls, username, password } = address;
  const { enableOfflineQueue = true, commandTimeout, ...ofNodes } = manner;
  return {
    clusterRetryStrategy: again,
    enableOfflineQueue,
    // Where it fails, `connect` never settles, and BullMQ waits for that; a cluster that is not whole answers each command so.
    enableReadyCheck: false,
    // A command is sent again, every 100 ms, while its node is away and no other has taken its place: for its time, or for ever.
    maxRedirections: commandTimeout ? Math.ceil(commandTimeout / againMs) : Number.POSITIVE_INFINITY,
    retryDelayOnFailover: againMs,
    retryDelayOnClusterDown: againMs,
    retryDelayOnTryAgain: againMs,
    slotsRefreshInterval: slotsRefreshMs,
    // Left to each connection, so that certificates are checked against names.
    dnsLookup: (host, found) => found(null, host),
    redisOptions: {
      ...ofNodes,
      ...(commandTimeout && { commandTimeout }),
      ...(username && { username }),
      ...(password && { password }),
      ...(tls && { tls: {} }),
    },
  };
}
