import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on loopback for the browser to come back from the provider (RFC 8252 section 7.3). */
export interface Loopback {
  readonly redirectUri: string;
  /** The answer of the provider with this state. @throws Error if none arrives within the limit */
  answer(state: string): Promise<URL>;
  close(): void;
}

const path = '/signed-in';
const maxWaitMs = 10 * 60_000;

/** Starts to listen on a free port of 127.0.0.1. */
export async function listenOnLoopback(): Promise<Loopback> {
  const answers: { handle?: (request: IncomingMessage, response: ServerResponse) => void } = {};
  const server = createServer((request, response) => {
    if (answers.handle) answers.handle(request, response);
    else reply(response, 404, 'No sign-in is running.');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUri: origin + path,
    answer: (state) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error('No sign-in within ten minutes. Try again.')), maxWaitMs);
        answers.handle = (request, response) => {
          const url = readTarget(request, origin);
          if (url?.pathname !== path) return reply(response, 404, 'Not found.');
          if (url.searchParams.get('state') !== state)
            return reply(response, 400, 'This answer belongs to another sign-in.');
          clearTimeout(limit);
          const isDenied = url.searchParams.has('error');
          // When the reply is sent, connections may be closed.
          response.once('close', () => resolve(url));
          reply(
            response,
            200,
            `${isDenied ? 'Not signed in.' : 'Done.'} You can close this tab and return to the terminal.`,
          );
        };
      }),
    close() {
      server.close();
      // Browsers keep spare connections open, on which they send nothing.
      server.closeAllConnections();
    },
  };
}

// Other programs of this machine can send requests too. Node 20 has no URL.parse.
function readTarget({ method, url = '' }: IncomingMessage, origin: string): URL | undefined {
  return method === 'GET' && URL.canParse(url, origin) ? new URL(url, origin) : undefined;
}

function reply(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    })
    .end(`${sentence}\n`);
}
