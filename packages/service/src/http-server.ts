import { once } from 'node:events';
import type { Server } from 'node:http';

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
  for (const event of ['request', 'checkContinue'] as const) {
    server.prependListener(event, (_request, response) => {
      if (stopping.aborted) response.setHeader('Connection', 'close');
    });
  }
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
