import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Provider } from './provider.ts';
import { providerProfiles } from './provider-profiles.ts';

/** What a stand-in does with a request: writes bytes to the socket, or nothing. */
export type Behaviour = (socket: Socket) => void;

export interface StandInProvider extends AsyncDisposable {
  readonly provider: Provider;
  /** The heads of all requests so far, one character per byte. */
  readonly requests: string[];
  behaviour: Behaviour;
}

/** A complete HTTP response. */
export function respondWith(status: number, body = '', headers = ''): Behaviour {
  const head = `HTTP/1.1 ${status} Whatever\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`;
  return (socket) => socket.write(head + body);
}

export const mia = respondWith(200, '{"id":1059182745930317825,"screen_name":"mia"}');

/**
 * Starts an identity provider with a `behaviour` that tests can replace. By default, each caller is mia. It advertises `advertised`, or its
 * own address.
 */
export async function startStandIn(advertised?: string): Promise<StandInProvider> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let head = '';
    socket.setEncoding('latin1');
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (bytes) => {
      head += bytes;
      if (!head.includes('\r\n\r\n')) return;
      standIn.requests.push(head);
      head = '';
      standIn.behaviour(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}/1/verify.json`;
  const standIn: StandInProvider = {
    provider: { advertised: advertised ?? upstream, upstream, profile: providerProfiles.oauth1 },
    requests: [],
    behaviour: mia,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return standIn;
}
