import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListeningServer extends AsyncDisposable {
  readonly origin: string;
}

/** Makes a server listen on a free loopback port. Disposing closes it and its connections. */
export async function listen(server: Server): Promise<ListeningServer> {
  // Clients pool connections: one that closes while they send a request fails it.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
