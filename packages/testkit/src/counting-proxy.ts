import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';

/** A request that has passed through. */
export interface SeenRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface CountingProxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Everything that has passed so far, in order; may be emptied. */
  readonly seen: SeenRequest[];
  /** Connections to it that are open at this moment. */
  connections(): Promise<number>;
}

/** An HTTP proxy in front of `target` (an http address) that passes everything on as it is, the Host header included. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const { hostname, port } = new URL(target);
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, answer) => {
    const { method = '', url = '/', headers } = incoming;
    const { pathname, searchParams } = new URL(url, target);
    seen.push({ method, path: pathname, query: searchParams });
    const outgoing = send({ hostname, port, method, path: url, headers }, (answered) => {
      answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
      pipeline(answered, answer, () => {});
    });
    pipeline(incoming, outgoing, (error) => {
      if (error) answer.destroy();
    });
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
