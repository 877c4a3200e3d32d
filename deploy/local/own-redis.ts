import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import pRetry from 'p-retry';

/** Where a Redis of the system's own answers, and the password that it wants. */
export interface RedisLogin {
  readonly port: number;
  /** Letters, digits, `-` and `_`. */
  readonly password: string;
}

/** The address of a Redis on loopback. */
export function addressOf({ port, password }: RedisLogin): string {
  return `redis://default:${password}@127.0.0.1:${port}`;
}

/**
 * The command of a Redis on loopback whose settings and data lie below `dataDir`: every write is in an append-only file, and jobs are never
 * evicted (docs/dependencies.md, "BullMQ and ioredis"). `server` is redis-server or valkey-server. The password is in a file that only the owner can read.
 */
export async function ownRedis(
  server: string,
  dataDir: string,
  { port, password }: RedisLogin,
): Promise<readonly [string, ...string[]]> {
  const dir = join(dataDir, 'redis');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    requirepass: password,
    dir: JSON.stringify(dir),
    appendonly: 'yes',
    save: '""',
    'maxmemory-policy': 'noeviction',
    loglevel: 'notice',
    // How often it wakes up while idle, per second; ten unless set.
    hz: '2',
  };
  const file = join(dir, 'redis.conf');
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
  return [server, file];
}

/**
 * Resolves when something listens on the port.
 * @throws the last connection's error after ten seconds, or the signal's reason
 */
export async function listening(port: number, signal: AbortSignal): Promise<void> {
  const tryOnce = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect', { signal }).finally(() => socket.destroy());
  };
  await pRetry(tryOnce, { retries: Number.POSITIVE_INFINITY, minTimeout: 50, factor: 1, maxRetryTime: 10_000, signal });
}
