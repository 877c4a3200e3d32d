import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { sandboxApp } from './app.ts';
import { createSandboxEvents } from './events.ts';
import type { BehaviourState } from './switch-behaviour.ts';
import { type Accounts, builtInAccounts } from './users.ts';

export interface RunningSandbox extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string;
  readonly metrics: Metrics;
  /** The number of open connections. */
  readonly connections: () => Promise<number>;
}

/** Starts a sandbox on a free port. */
export async function startSandbox({
  accounts = builtInAccounts,
  behaviour = 'normal',
  slowSeconds = 10,
}: Partial<BehaviourState> & { accounts?: Accounts } = {}): Promise<RunningSandbox> {
  const metrics = new Metrics('sandbox-provider');
  const events = createSandboxEvents(createLog('sandbox-provider', 'silent'), metrics);
  const server = createServer(
    sandboxApp({ accounts, siteName: 'Bild & Ton', behaviour: { behaviour, slowSeconds }, events }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    metrics,
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Sends a request with any headers, also Host and Origin, which fetch does not allow. */
export async function send(
  address: string,
  { body, method = 'GET', ...headers }: Record<string, string>,
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
  const sent = request(address, { method, headers, agent: false }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
