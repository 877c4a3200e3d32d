import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on loopback for the redirect from the provider (RFC 8252 section 7.3). */
export interface Loopback extends Disposable {
  readonly redirectUri: string;
  /** The redirect URL of the authorization response. Rejects if none arrives in time. */
  readonly redirected: Promise<URL>;
}

const maxWaitMs = 10 * 60_000;

/** Listens on a free port of 127.0.0.1 for the authorization response with this state, at `path`. */
export async function listenOnLoopback(path: string, state: string): Promise<Loopback> {
  const server = createServer();
  let limit: NodeJS.Timeout | undefined;
  const redirected = new Promise<URL>((resolve, reject) => {
    limit = setTimeout(() => reject(new Error('No sign-in within ten minutes. Try again.')), maxWaitMs);
    server.on('request', (request, response) => {
      const url = readTarget(request, origin);
      if (url?.pathname !== path) return respond(response, 404, 'Not found.');
      if (url.searchParams.get('state') !== state)
        return respond(response, 400, 'This response belongs to another sign-in.');
      // The caller closes all connections: wait until this response is sent.
      response.once('close', () => resolve(url));
      const news = url.searchParams.has('error') ? 'Not signed in.' : 'The sign-in continues in the terminal.';
      respond(response, 200, `${news} You can close this tab.`);
    });
  });
  // No caller waits for the response while the provider is prepared.
  redirected.catch(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    redirectUri: origin + path,
    redirected,
    [Symbol.dispose]() {
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
