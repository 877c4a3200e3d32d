import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createLog } from '@echodrop/service/log';
import { type ListeningServer, listen } from '@echodrop/testkit/servers/listen';
import type { Signer } from '@echodrop/testkit/sign-echo';
import { sandboxApp } from './app.ts';
import { type Accounts, builtInAccounts } from './users.ts';

/** The application and the user of the built-in accounts. */
export const builtInSigner: Signer = {
  consumer: { key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' },
  token: { key: '12345-sandbox', secret: 'sandbox-token-secret' },
};

/** Starts a sandbox on a free port. */
export function startSandbox(accounts: Accounts = builtInAccounts): Promise<ListeningServer> {
  const log = createLog('sandbox-provider', 'silent');
  return listen(createServer(sandboxApp({ accounts, siteName: 'Bild & Ton', log })));
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
