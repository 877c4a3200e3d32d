import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import getPort from 'get-port';

// Not an ephemeral port (Linux: 32768 and above): an outgoing connection could take it before the server listens. Not a port that fetch
// blocks (up to 10080, https://fetch.spec.whatwg.org/#port-blocking).
const defaultRange = { lowest: 10_081, highest: 32_767 };
const maxAttempts = 50;

/**
 * A free port of this machine, reserved while this process runs.
 * @throws Error if none is found
 */
export async function freePort({ lowest, highest } = defaultRange): Promise<number> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
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

// Binds the UDP port of the same number, which no server uses, so that other processes see the reservation. The kernel
// releases it when the process ends.
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
