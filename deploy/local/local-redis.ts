import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { retryFor } from '@echodrop/service/retry-for';

/** The port and password of the system's Redis on loopback. */
export interface RedisLogin {
  readonly port: number;
  /** A password of letters, digits, `-` and `_`. */
  readonly password: string;
}

/**
 * Writes the configuration of a Redis on loopback with its data below `dataDir`: every write goes to an append-only file, and jobs are never
 * evicted (docs/why/dependencies.md, "BullMQ and ioredis"). Only the owner can read it, as it contains the password. @returns the file
 */
export async function writeRedisConfig(dataDir: string, { port, password }: RedisLogin): Promise<string> {
  const dir = join(dataDir, 'redis');
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const settings = {
    port,
    bind: '127.0.0.1',
    requirepass: password,
    dir: JSON.stringify(dir),
    appendonly: 'yes',
    save: '""',
    'maxmemory-policy': 'noeviction',
    loglevel: 'notice',
    // An idle Redis wakes up twice a second with this value. The default is ten times.
    hz: 2,
  };
  const file = join(dir, 'redis.conf');
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  await writeFile(file, lines.join(''), { mode: 0o600 });
  return file;
}

/** Resolves if Redis accepts a connection. @throws Error after ten seconds, or the signal's reason */
export async function awaitListening(port: number, signal: AbortSignal): Promise<void> {
  const tryOnce = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect', { signal }).finally(() => socket.destroy());
  };
  const isAwaited = () => !signal.aborted;
  await retryFor(10_000, tryOnce, isAwaited).catch((cause: Error) => {
    signal.throwIfAborted();
    throw new Error(`Redis has not started within ten seconds (${cause.message}): see its lines above`, { cause });
  });
}
