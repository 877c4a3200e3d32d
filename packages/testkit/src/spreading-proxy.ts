import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

/** A TCP proxy on 127.0.0.1 that gives every new connection to the next of `ports`, as a load balancer does. */
export async function startSpreadingProxy(
  ports: readonly number[],
): Promise<AsyncDisposable & { readonly port: number }> {
  let connections = 0;
  const server = createServer((client) => {
    const target = connect(ports[connections++ % ports.length] ?? 0, '127.0.0.1');
    pipeline(client, target, () => {});
    pipeline(target, client, () => {});
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
