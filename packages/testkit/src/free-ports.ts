import { randomInt } from 'node:crypto';
import getPort from 'get-port';

// Below those that the system gives to connections on their way out (Linux: from 32768 on): one of these could be taken between the look and
// the server that is meant to have it.
const lowest = 10_000;
const highest = 32_767;
const tries = 50;

/** A free port of this machine for a server that is started soon. */
export function freePort(): Promise<number> {
  return getPort({ host: '127.0.0.1', port: Array.from({ length: tries }, () => randomInt(lowest, highest + 1)) });
}

/** A free port of this machine for each name. */
export async function freePorts<const N extends string>(names: readonly N[]): Promise<Record<N, number>> {
  const ports = await Promise.all(names.map(() => freePort()));
  return Object.fromEntries(names.map((name, i) => [name, ports[i]])) as Record<N, number>;
}
