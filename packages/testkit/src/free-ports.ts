import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import getPort from 'get-port';

// Below those that the system gives to connections on their way out (Linux: from 32768 on): one of these could be taken between the look and
// the server that is meant to have it. Above the last port that fetch refuses to ask (10080, https://fetch.spec.whatwg.org/#port-blocking).
const usual = { lowest: 10_081, highest: 32_767 } as const;
const tries = 50;

/**
 * A free port of this machine for a server that is started soon; no other process is given it as long as this one lives.
 * @throws Error if none is found
 */
export async function freePort({ lowest, highest }: { lowest: number; highest: number } = usual): Promise<number> {
  for (let tried = 0; tried < tries; tried += 1) {
    const port = randomInt(lowest, highest + 1);
    if ((await reserve(port)) && (await getPort({ host: '127.0.0.1', port })) === port) return port;
  }
  throw new Error(`no port from ${lowest} to ${highest} is free`);
}

/** A free port of this machine for each name. */
export async function freePorts<const N extends string>(names: readonly N[]): Promise<Record<N, number>> {
  const ports = await Promise.all(names.map(() => freePort()));
  return Object.fromEntries(names.map((name, i) => [name, ports[i]])) as Record<N, number>;
}

// By the UDP port of the same number, which none of our servers has: until they listen, other processes cannot see that theirs is taken. The system
// frees it with the process.
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  socket.bind({ port, address: '127.0.0.1' });
  return once(socket, 'listening').then(
    () => true,
    () => {
      socket.close();
      return false;
    },
  );
}
