import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on loopback for the redirect from the provider (RFC 8252 section 7.3). */
export interface Loopback {
  readonly redirectUri: string;
  /** Resolves to the redirect URL of the authorization response with this state. @throws Error if none arrives in time */
  receive(state: string): Promise<URL>;
  close(): void;
}

const maxWaitMs = 10 * 60_000;

/** Starts to listen on a free port of 127.0.0.1, for a redirect to `path`. */
export async function listenOnLoopback(path: string): Promise<Loopback> {
  const pending: { handle?: (request: IncomingMessage, response: ServerResponse) => void } = {};
  let limit: NodeJS.Timeout | undefined;
  const server = createServer((request, response) => {
    if (pending.handle) pending.handle(request, response);
    else respond(response, 404, 'No sign-in is running.');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUri: origin + path,
    receive: (state) =>
      new Promise((resolve, reject) => {
        limit = setTimeout(() => reject(new Error('No sign-in within ten minutes. Try again.')), maxWaitMs);
        pending.handle = (request, response) => {
          const url = readTarget(request, origin);
          if (url?.pathname !== path) return respond(response, 404, 'Not found.');
          if (url.searchParams.get('state') !== state)
            return respond(response, 400, 'This response belongs to another sign-in.');
          clearTimeout(limit);
          const isDenied = url.searchParams.has('error');
          // The caller closes all connections: wait until this response is sent.
          response.once('close', () => resolve(url));
          respond(
            response,
            200,
            `${isDenied ? 'Not signed in.' : 'The sign-in continues in the terminal.'} You can close this tab.`,
          );
        };
      }),
    close() {
      clearTimeout(limit);
      server.close();
      // Browsers keep idle spare connections open.
      server.closeAllConnections();
    },
  };
}

// Other programs on this machine can send requests too. Node 20 has no URL.parse.
function readTarget({ method, url = '' }: IncomingMessage, origin: string): URL | undefined {
  return method === 'GET' && URL.canParse(url, origin) ? new URL(url, origin) : undefined;
}

function respond(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    })
    .end(
      `<!doctype html><title>echodrop</title><body style="font: 1.2em sans-serif; margin: 3em"><p>${sentence}</p>\n`,
    );
}
