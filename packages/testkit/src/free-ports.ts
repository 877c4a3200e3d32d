import getPort from 'get-port';

/** A free port of this machine for each name. */
export async function freePorts<const N extends string>(names: readonly N[]): Promise<Record<N, number>> {
  const ports = await Promise.all(names.map(() => getPort()));
  return Object.fromEntries(names.map((name, i) => [name, ports[i]])) as Record<N, number>;
}
