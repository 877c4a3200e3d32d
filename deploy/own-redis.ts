import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import pRetry from 'p-retry';

/**
 * The command of a Redis on loopback whose data lie below `dataDir`: every write is in an append-only file, and jobs are never
 * evicted (TRAPS, BullMQ). `server` is redis-server or valkey-server.
 */
export async function ownRedis(server: string, dataDir: string, port: number): Promise<readonly [string, ...string[]]> {
  const dir = join(dataDir, 'redis');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const settings = {
    port: String(port),
    bind: '127.0.0.1',
    dir,
    appendonly: 'yes',
    save: '',
    'maxmemory-policy': 'noeviction',
    loglevel: 'notice',
    // How often it wakes up while idle, per second; ten unless set.
    hz: '2',
  };
  return [server, ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
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
