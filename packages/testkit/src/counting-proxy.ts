import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

/** A request that has passed through. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The Range header. */
  readonly range: string | undefined;
  /** How many bytes of the answer's body have come from the target so far. */
  answeredBytes: number;
}

export interface CountingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Everything that has passed so far, in order; may be emptied. */
  readonly seen: SeenRequest[];
  /** Connections to it that are open at this moment. */
  connections(): Promise<number>;
}

/**
 * What becomes of a request: it passes; its answer is `lost` (the connection closes) or `held` for ever; it arrives `twice`, and
 * the second answer is told; or it is `overtaken`: it fails, and arrives only when the next one has passed.
 */
export type Fate = 'passes' | 'lost' | 'held' | 'twice' | 'overtaken';

/**
 * An HTTP proxy in front of `target` (an http address) that passes everything on as it is, the Host header included, unless
 * `fate` says otherwise.
 */
export async function startCountingProxy(
  target: string,
  fate: (request: SeenRequest) => Fate = () => 'passes',
): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const seen: SeenRequest[] = [];
  const late: (() => void)[] = [];
  const server = createServer(async (incoming, answer) => {
    const { method = '', url = '/', headers } = incoming;
    const { pathname, searchParams } = new URL(url, target);
    const request = { method, path: pathname, query: searchParams, range: headers.range, answeredBytes: 0 };
    seen.push(request);
    const becomes = fate(request);
    const forward = (told: (answered: IncomingMessage) => void) =>
      send({ hostname, port, method, path: url, headers }, told);
    const tell = (answered: IncomingMessage) => {
      if (answer.destroyed) return void answered.resume();
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
      answered.on('data', (chunk: Buffer) => {
        request.answeredBytes += chunk.length;
      });
      pipeline(answered, answer, () => {
        for (const arrive of late.splice(0)) arrive();
      });
    };
    if (becomes === 'passes') {
      pipeline(incoming, forward(tell), (error) => {
        if (error) answer.destroy();
      });
      return;
    }
    const body = await buffer(incoming);
    const arrive = (told: (answered: IncomingMessage) => void) =>
      forward((answered) => told(answered.resume())).end(body);
    if (becomes === 'lost') arrive(() => answer.destroy());
    if (becomes === 'held') arrive(() => {});
    if (becomes === 'twice') arrive(() => forward(tell).end(body));
    if (becomes === 'overtaken') {
      late.push(() => arrive(() => {}));
      answer.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    connections: promisify(server.getConnections.bind(server)),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
