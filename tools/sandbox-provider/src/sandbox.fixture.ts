import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createLog } from '@echodrop/service/log';
import { Metrics } from '@echodrop/service/metrics/metrics';
import { sandboxApp } from './app.ts';
import { createSandboxEvents } from './events.ts';
import type { Switch } from './switch-behaviour.ts';
import { type Accounts, builtInAccounts } from './users.ts';

export interface RunningSandbox extends AsyncDisposable {
  /** Its address without a slash at its end. */
  readonly origin: string;
  readonly metrics: Metrics;
  /** How many connections are open now. */
  readonly connections: () => Promise<number>;
}

/** A sandbox on a port of its own. */
export async function startSandbox({
  accounts = builtInAccounts,
  behaviour = 'normal',
  slowSeconds = 10,
}: Partial<Switch> & { accounts?: Accounts } = {}): Promise<RunningSandbox> {
  const metrics = new Metrics('sandbox-provider');
  const events = createSandboxEvents(createLog('sandbox-provider', 'silent'), metrics);
  const server = createServer(sandboxApp({ accounts, behaviour: { behaviour, slowSeconds }, events }));
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

/** A request with any headers, Host and Origin included, which fetch keeps to itself. */
export async function send(
  address: string,
  { body, method = 'GET', ...headers }: Record<string, string>,
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
  const asked = request(address, { method, headers, agent: false }).end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
