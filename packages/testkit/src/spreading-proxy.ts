import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/**
 * A TCP proxy on 127.0.0.1 that gives every new connection to the next of `ports`, as a load balancer does; one that refuses is
 * passed over.
 */
export async function startSpreadingProxy(
  ports: readonly number[],
): Promise<AsyncDisposable & { readonly port: number }> {
  let connections = 0;
  const server = createServer(async (client) => {
    client.on('error', () => {});
    const first = connections++ % ports.length;
    for (const port of [...ports.slice(first), ...ports.slice(0, first)]) {
      const target = connect(port, '127.0.0.1');
      const isConnected = await once(target, 'connect').then(
        () => true,
        () => false,
      );
      if (!isConnected) continue;
      pipeline(client, target, () => {});
      pipeline(target, client, () => {});
      return;
    }
    client.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}
