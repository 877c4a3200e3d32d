import { isIPv6 } from 'node:net';

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

interface Several {
  /** Those that are asked first; the others are learnt from them. */
  readonly hosts: readonly RedisHost[];
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
}

/** Where Redis is: one server; one that sentinels know, by its name; or the nodes of a cluster. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string }
  | ({ readonly kind: 'sentinel'; readonly master: string; readonly db: number } & Several)
  | ({ readonly kind: 'cluster' } & Several);

/** What is wrong with an address, as a sentence that follows its setting's name; never a part of it, which may be a secret. */
export class RedisAddressFault extends Error {
  override readonly name = 'RedisAddressFault';
}

const forms = 'redis:// or rediss:// address, alone or with +sentinel or +cluster before the colon';
const ports = { sentinel: 26379, cluster: 6379 };

/**
 * Reads `redis[s]://[user:password@]host[:6379][/db]`, `redis[s]+sentinel://[user:password@]host[:26379],host/master[/db]` or
 * `redis[s]+cluster://[user:password@]host[:6379],host`. User and password are percent-encoded; with `rediss` all connections have TLS.
 * @throws RedisAddressFault
 */
export function readRedisAddress(address: string): RedisAddress {
  const [, scheme, kind, rest = ''] = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(.*)$/s.exec(address) ?? [];
  if (!scheme) throw new RedisAddressFault(`must be a ${forms}`);
  if (kind === undefined) return oneServer(address);
  const [, credentials, hosts = '', path = ''] = /^(?:([^@/]*)@)?([^@/]*)(?:\/([^@]*))?$/s.exec(rest) ?? [];
  const several = {
    hosts: hosts.split(',').map((host) => readHost(host, ports[kind as keyof typeof ports])),
    tls: scheme === 'rediss',
    ...readCredentials(credentials),
  };
  if (kind === 'sentinel') return { kind, ...several, ...readMaster(path) };
  if (path !== '') throw new RedisAddressFault('must end with the hosts: a cluster has no databases');
  return { kind: 'cluster', ...several };
}

function oneServer(url: string): RedisAddress {
  if (!URL.canParse(url)) {
    throw new RedisAddressFault('must have one host, and user and password percent-encoded where they are given');
  }
  const { hostname, pathname } = new URL(url);
  if (hostname === '') throw new RedisAddressFault('must name a host');
  if (!/^(\/\d*)?$/.test(pathname))
    throw new RedisAddressFault('must end with the number of a database, if with a path');
  return { kind: 'server', url };
}

function readHost(text: string, defaultPort: number): RedisHost {
  const [, bracketed, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed === undefined || isIPv6(bracketed) ? (bracketed ?? name) : undefined;
  const port = digits === undefined ? defaultPort : Number(digits);
  if (!host || port < 1 || port > 65_535) {
    throw new RedisAddressFault(
      `must name its hosts as host:${defaultPort} with commas between them, and user and password percent-encoded`,
    );
  }
  return { host, port };
}

function readCredentials(text: string | undefined): Pick<Several, 'username' | 'password'> {
  if (!text) return {};
  const [username, password, ...more] = text.split(':').map(decoded);
  if (username === undefined || more.length > 0 || (password === undefined && text.includes(':'))) {
    throw new RedisAddressFault('must have user and password percent-encoded');
  }
  return { ...(username && { username }), ...(password && { password }) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function readMaster(path: string): { master: string; db: number } {
  const [, master, db = '0'] = /^([\w.-]+)(?:\/(\d{1,9}))?$/.exec(path) ?? [];
  if (!master) {
    throw new RedisAddressFault(
      "must end with the master's name, as sentinels know it (/mymaster), and a database's number if any",
    );
  }
  return { master, db: Number(db) };
}
