import { version } from '../containers/compose-system.ts';
import type { Cluster } from './cluster.ts';

/** The output of a script for Node in a new pod outside of the namespace, which no policy restricts. */
export async function runOutside({ kubectl }: Cluster, script: string): Promise<string> {
  const name = `outside-${Date.now()}`;
  const inDefault = (...words: string[]) => kubectl('--namespace=default', ...words);
  const image = `--image=echodrop/admin:${version}`;
  await inDefault('run', name, image, '--restart=Never', '--command', '--', 'node', '-e', script);
  // Not `--attach`: it misses the output of a container that ends at once.
  await inDefault('wait', `pod/${name}`, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=9m');
  const output = await inDefault('logs', name);
  await inDefault('delete', 'pod', name);
  return output;
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
