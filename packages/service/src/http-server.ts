import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

interface Listening {
  readonly host: string;
  readonly port: number;
  /** Aborted when the process has begun to stop: from then on every answer says `Connection: close`. */
  readonly stopping: AbortSignal;
  /** How long requests that run may take to finish after the listener has closed. */
  readonly graceSeconds: number;
}

/**
 * Opens the listener of `server`. Disposing closes it, lets running requests finish within the grace, then ends their connections.
 * @throws the system's error when the address cannot be had
 */
export async function listen(
  server: Server,
  { host, port, stopping, graceSeconds }: Listening,
): Promise<AsyncDisposable> {
  const running = new Set<ServerResponse>();
  const begun = (_request: IncomingMessage, response: ServerResponse) => {
    if (stopping.aborted) response.setHeader('Connection', 'close');
    running.add(response);
    response.once('close', () => {
      running.delete(response);
      // One whose head was already sent when the stop began has left its connection open.
      if (!server.listening) server.closeIdleConnections();
    });
  };
  stopping.addEventListener('abort', () => {
    for (const response of running) if (!response.headersSent) response.setHeader('Connection', 'close');
  });
  server.prependListener('request', begun);
  // Whoever listens for checkContinue must answer it: a server that does not handle it leaves it to Node.
  if (server.listenerCount('checkContinue') > 0) server.prependListener('checkContinue', begun);
  server.listen(port, host);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      const forced = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000);
      await closed;
      clearTimeout(forced);
    },
  };
}
