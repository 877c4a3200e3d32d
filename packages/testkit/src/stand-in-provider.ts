import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StandIn {
  /** The addresses for which clients sign, whatever host they name. */
  readonly advertised: readonly string[];
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly key: string; readonly secret: string };
  /** What a verified user gets. */
  readonly answer: unknown;
}

/** An identity provider that stands in for one out in the world: it checks signatures over the addresses that it advertises. */
export interface StandInProvider extends AsyncDisposable {
  /** IDENTITY_PROVIDERS for it: each advertised address, really asked here. */
  readonly setting: string;
}

export async function startStandInProvider({ advertised, consumer, token, answer }: StandIn): Promise<StandInProvider> {
  const server = createServer(({ headers, url }, response) => {
    const address = advertised.find((each) => new URL(each).host === headers.host && new URL(each).pathname === url);
    const isSigned = address !== undefined && signatureFits(`${headers.authorization}`, address, { consumer, token });
    response
      .writeHead(isSigned ? 200 : 401, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(isSigned ? answer : {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    setting: advertised.map((address) => `${address}=${here}${new URL(address).pathname}`).join(','),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function signatureFits(
  header: string,
  address: string,
  { consumer, token }: Pick<StandIn, 'consumer' | 'token'>,
): boolean {
  const pairs = [...header.matchAll(/([a-z_]+)="([^"]*)"/g)].filter(([, name]) => name !== 'realm');
  const parameters = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
  if (parameters.oauth_consumer_key !== consumer.key || parameters.oauth_token !== token.key) return false;
  const { oauth_signature: signature, ...signed } = parameters;
  const sorted = Object.entries(signed).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const base = ['GET', address, sorted.sort().join('&')].map(encodeURIComponent).join('&');
  return createHmac('sha1', `${consumer.secret}&${token.secret}`).update(base).digest('base64') === signature;
}
