import { createServer, type IncomingMessage, request as send } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ListeningServer, listen } from './listen.ts';

const MiB = 2 ** 20;
const cutEveryBytes = 10 * MiB;
const maxBodyBytes = 90e6;

interface CuttingProxy extends ListeningServer {
  /** The connections that it has reset so far. */
  readonly cuts: number;
}

/**
 * A proxy in front of `target` (an origin), as on a train: it refuses a body above 90 MB, and resets each connection after 10 MiB from its client.
 * `onBytes` gets the number of bytes of bodies that it has forwarded so far.
 */
export async function startCuttingProxy(
  target: string,
  onBytes: (total: number) => void = () => {},
): Promise<CuttingProxy> {
  let cuts = 0;
  let bytes = 0;
  const sentOn = new WeakMap<IncomingMessage['socket'], number>();
  const server = createServer(async (incoming, response) => {
    const { method, url: path, headers, socket } = incoming;
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes)
      return response.writeHead(413, { Connection: 'close' }).end();
    const outgoing = send(new URL(path ?? '/', target), { method, headers, agent: false });
    outgoing.on('response', (received) => {
      response.writeHead(received.statusCode ?? 502, received.rawHeaders);
      pipeline(received, response).catch(() => {});
    });
    const cut = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        onBytes(bytes);
        const sent = (sentOn.get(socket) ?? 0) + chunk.length;
        sentOn.set(socket, sent);
        if (sent <= cutEveryBytes) return done(null, chunk);
        cuts += 1;
        socket.resetAndDestroy();
        outgoing.socket?.resetAndDestroy();
      },
    });
    outgoing.on('error', () => socket.destroy());
    pipeline(incoming, cut, outgoing).catch(() => {});
  });
  const listening = await listen(server);
  return {
    ...listening,
    get cuts() {
      return cuts;
    },
  };
}
