import { version } from '../containers/compose-system.ts';
import type { Cluster } from './cluster.ts';

/** The output of a script for Node in a new pod outside of the namespace, which no policy restricts. */
export async function runOutside({ kubectl }: Cluster, script: string): Promise<string> {
  const words = [`--image=echodrop/admin:${version}`, '--restart=Never', '--rm', '--attach', '--quiet'];
  return kubectl(
    'run',
    `outside-${Date.now()}`,
    '--namespace=default',
    ...words,
    '--command',
    '--',
    'node',
    '-e',
    script,
  );
}

/** A script that tries each `host:port`, and prints those that accept a connection within three seconds. */
export function connectTo(addresses: readonly string[]): string {
  return `for (const address of ${JSON.stringify(addresses)}) {
    const [host, port] = address.split(':');
    const socket = require('node:net').connect({ host, port: Number(port) });
    socket.once('connect', () => { console.log(address); socket.destroy(); }).on('error', () => {});
    setTimeout(() => socket.destroy(), 3000);
  }`;
}
