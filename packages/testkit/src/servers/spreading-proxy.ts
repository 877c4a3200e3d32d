import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline, Transform } from 'node:stream';

/**
 * The state of a link: data `passes`; the link is `silent`: no data arrives until it passes again, without an error; or it is `cut`:
 * connections are reset, including new ones.
 */
export type LinkState = 'passes' | 'silent' | 'cut';

export interface SpreadingProxy extends AsyncDisposable {
  readonly port: number;
  turn(state: LinkState): void;
}

/**
 * A TCP proxy on 127.0.0.1 that forwards new connections to `ports` in turn, like a load balancer. A port that refuses is
 * skipped.
 */
export async function startSpreadingProxy(ports: readonly number[]): Promise<SpreadingProxy> {
  let connections = 0;
  let state: LinkState = 'passes';
  let passing = Promise.withResolvers<void>();
  passing.resolve();
  const open = new Set<Socket>();
  const gate = () =>
    new Transform({
      transform: (chunk, _encoding, done) => void passing.promise.then(() => done(null, chunk)),
    });
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
  };
  const server = createServer(async (client) => {
    keep(client);
    if (state === 'cut') return void client.resetAndDestroy();
    await passing.promise;
    const first = connections++ % ports.length;
    for (const port of [...ports.slice(first), ...ports.slice(0, first)]) {
      const target = connect(port, '127.0.0.1');
      const isConnected = await once(target, 'connect').then(
        () => true,
        () => false,
      );
      if (!isConnected) continue;
      keep(target);
      pipeline(client, gate(), target, () => {});
      pipeline(target, gate(), client, () => {});
      return;
    }
    client.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const turn = (to: LinkState) => {
    state = to;
    if (to === 'silent') passing = Promise.withResolvers();
    else passing.resolve();
    if (to === 'cut') for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    turn,
    async [Symbol.asyncDispose]() {
      turn('cut');
      server.close();
    },
  };
}
