import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from '../servers/listen.ts';
import type { Signer } from '../sign-echo.ts';
import type { ProviderRefusal } from './provider-responses.ts';

/** Accepted credentials: a signature with these secrets (OAuth 1.0a), or a bearer token. */
export type Accepted = Signer | { readonly bearer: string };

type StandIn = Accepted & {
  /** The addresses that clients sign; all others are refused. */
  readonly advertised: readonly string[];
  /** Its profile in IDENTITY_PROVIDERS, if not `oauth1`. */
  readonly profile?: string;
  /** The response to a verified user, as JSON; a string is sent unchanged. */
  readonly response: unknown;
  /** The response to other credentials; 401 by default. */
  readonly refusal?: ProviderRefusal;
};

/** A stand-in for a public identity provider, which checks proofs for its advertised addresses. */
export interface StandInProvider extends AsyncDisposable {
  /** Its value for IDENTITY_PROVIDERS: each advertised address, with its upstream here. */
  readonly setting: string;
}

export async function startStandInProvider(standIn: StandIn): Promise<StandInProvider> {
  const { advertised, profile, response, refusal = { status: 401, body: '{}' } } = standIn;
  const accepted = {
    status: 200,
    headers: {},
    body: typeof response === 'string' ? response : JSON.stringify(response),
  };
  const server = createServer(({ headers, url }, response) => {
    // Software behind a proxy derives its address this way.
    const requested = `${headers['x-forwarded-proto'] ?? 'http'}://${headers.host}${url}`;
    const address = advertised.find((each) => each === requested);
    const isProved = address !== undefined && isAccepted(`${headers.authorization}`, address, standIn);
    const { status, headers: more, body } = isProved ? accepted : refusal;
    response.writeHead(status, { 'Content-Type': 'application/json', ...more }).end(body);
  });
  const { origin: here, [Symbol.asyncDispose]: dispose } = await listen(server);
  const word = profile === undefined ? '' : `${profile} `;
  return {
    setting: advertised.map((address) => `${word}${address}=${here}${new URL(address).pathname}`).join(','),
    [Symbol.asyncDispose]: dispose,
  };
}

function isAccepted(header: string, address: string, accepted: Accepted): boolean {
  return 'bearer' in accepted ? header === `Bearer ${accepted.bearer}` : isSignatureValid(header, address, accepted);
}

function isSignatureValid(header: string, address: string, { consumer, token }: Signer): boolean {
  const pairs = [...header.matchAll(/([a-z_]+)="([^"]*)"/g)].filter(([, name]) => name !== 'realm');
  const parameters = Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]));
  if (parameters.oauth_consumer_key !== consumer.key || parameters.oauth_token !== token.key) return false;
  const { oauth_signature: signature, ...signed } = parameters;
  const sorted = Object.entries(signed).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  const base = ['GET', address, sorted.sort().join('&')].map(encodeURIComponent).join('&');
  return createHmac('sha1', `${consumer.secret}&${token.secret}`).update(base).digest('base64') === signature;
}
