import { isIPv6 } from 'node:net';

interface RedisHost {
  readonly host: string;
  readonly port: number;
}

interface Hosts {
  /** The servers to contact first. They report the others. */
  readonly hosts: readonly RedisHost[];
  readonly isTls: boolean;
  readonly username?: string;
  readonly password?: string;
}

/** One server, a master that sentinels know, or a cluster. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string }
  | ({ readonly kind: 'sentinel'; readonly master: string; readonly db: number } & Hosts)
  | ({ readonly kind: 'cluster' } & Hosts);

/** An address cannot be used. The message continues the setting's name, and contains no part of the address, which may be a secret. */
export class InvalidRedisAddress extends Error {
  override readonly name = 'InvalidRedisAddress';
}

const forms = 'redis:// or rediss:// address, alone or with +sentinel or +cluster before the colon';
const ports = { sentinel: 26379, cluster: 6379 };

/**
 * Reads `redis[s]://[user:password@]host[:6379][/db]`, `redis[s]+sentinel://[user:password@]host[:26379],host/master[/db]` or
 * `redis[s]+cluster://[user:password@]host[:6379],host`. User and password are percent-encoded; `rediss` uses TLS for all connections.
 * @throws InvalidRedisAddress
 */
export function readRedisAddress(address: string): RedisAddress {
  const [, scheme, kind, rest = ''] = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(.*)$/s.exec(address) ?? [];
  if (!scheme) throw new InvalidRedisAddress(`must be a ${forms}`);
  if (kind === undefined) return readServer(address);
  const [, credentials, hosts = '', path = ''] = /^(?:([^@/]*)@)?([^@/]*)(?:\/([^@]*))?$/s.exec(rest) ?? [];
  const common = {
    hosts: hosts.split(',').map((host) => readHost(host, ports[kind as keyof typeof ports])),
    isTls: scheme === 'rediss',
    ...readCredentials(credentials),
  };
  if (kind === 'sentinel') return { kind, ...common, ...readMaster(path) };
  if (path !== '') throw new InvalidRedisAddress('must have no path: a cluster has no databases');
  return { kind: 'cluster', ...common };
}

function readServer(url: string): RedisAddress {
  if (!URL.canParse(url)) {
    throw new InvalidRedisAddress('must have one host; user and password must be percent-encoded');
  }
  const { hostname, pathname, searchParams, hash } = new URL(url);
  if (hostname === '') throw new InvalidRedisAddress('must name a host');
  if (!/^(\/\d*)?$/.test(pathname) || hash !== '')
    throw new InvalidRedisAddress('must have no path except a database number');
  // Options of ioredis, which prefers these to the path and to REDIS_PREFIX.
  const option = ['db', 'keyPrefix'].find((name) => searchParams.has(name));
  if (option !== undefined)
    throw new InvalidRedisAddress(`must not set ${option}: a database number is the path, a prefix REDIS_PREFIX`);
  return { kind: 'server', url };
}

function readHost(text: string, defaultPort: number): RedisHost {
  const [, bracketed, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed === undefined || isIPv6(bracketed) ? (bracketed ?? name) : undefined;
  const port = digits === undefined ? defaultPort : Number(digits);
  if (!host || port < 1 || port > 65_535) {
    throw new InvalidRedisAddress(
      `must list hosts as host:${defaultPort}, separated by commas; user and password must be percent-encoded`,
    );
  }
  return { host, port };
}

function readCredentials(text: string | undefined): Pick<Hosts, 'username' | 'password'> {
  if (!text) return {};
  const [username, password, ...more] = text.split(':').map(percentDecode);
  if (username === undefined || more.length > 0 || (password === undefined && text.includes(':'))) {
    throw new InvalidRedisAddress('must have user and password percent-encoded');
  }
  return { ...(username && { username }), ...(password && { password }) };
}

function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readMaster(path: string): { master: string; db: number } {
  const [, master, db = '0'] = /^([\w.-]+)(?:\/(\d{1,9}))?$/.exec(path) ?? [];
  if (!master) {
    throw new InvalidRedisAddress("must end with the master's name (/mymaster), and optionally a database number");
  }
  return { master, db: Number(db) };
}
