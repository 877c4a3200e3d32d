import { timingSafeEqual } from 'node:crypto';
import { signatureOf } from '@echodrop/oauth/signature';
import { readAuthorization } from './authorization-header.ts';
import { NonceMemory } from './nonce-memory.ts';
import { consumers, type SandboxUser, users } from './users.ts';

/** A request as its signature sees it: `url` is the address that the client signed for, query included. */
export interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly authorization: string | undefined;
}

export type Fault = 'missing' | 'malformed' | 'unknown' | 'signature' | 'timestamp' | 'nonce';

const clockTolerance = 5 * 60;

/** Who signed requests, with HMAC-SHA1 as RFC 5849 has it; remembers the nonces that it has seen. */
export class SignatureCheck {
  readonly #nonces = new NonceMemory(2 * clockTolerance * 1000);

  check({ method, url, authorization }: SignedRequest): SandboxUser | Fault {
    if (authorization === undefined) return 'missing';
    const parameters = readAuthorization(authorization);
    if (!parameters || !wellFormed(parameters, url)) return 'malformed';

    const consumer = consumers.find(({ key }) => key === parameters.get('oauth_consumer_key'));
    const user = users.find(({ token }) => token === parameters.get('oauth_token'));
    if (!consumer || !user) return 'unknown';

    const { oauth_signature: _, ...signed } = Object.fromEntries(parameters);
    const secrets = { consumerSecret: consumer.secret, tokenSecret: user.tokenSecret };
    const expected = signatureOf({ method, address: url.href, parameters: signed }, secrets);
    if (!same(expected, parameters.get('oauth_signature') ?? '')) return 'signature';

    const timestamp = parameters.get('oauth_timestamp') ?? '';
    if (Math.abs(Date.now() / 1000 - Number(timestamp)) > clockTolerance) return 'timestamp';
    const nonce = parameters.get('oauth_nonce') ?? '';
    return this.#nonces.use({ consumer: consumer.key, token: user.token, timestamp, nonce }) ? user : 'nonce';
  }
}

function wellFormed(parameters: Map<string, string>, url: URL): boolean {
  return (
    parameters.get('oauth_signature_method') === 'HMAC-SHA1' &&
    (parameters.get('oauth_version') ?? '1.0') === '1.0' &&
    /^[1-9]\d{0,11}$/.test(parameters.get('oauth_timestamp') ?? '') &&
    parameters.get('oauth_nonce') !== undefined &&
    ![...url.searchParams.keys()].some((name) => name.startsWith('oauth_'))
  );
}

function same(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
