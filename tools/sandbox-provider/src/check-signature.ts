import { timingSafeEqual } from 'node:crypto';
import { readAuthorization } from '@echodrop/oauth/authorization-header';
import { signatureOf } from '@echodrop/oauth/signature';
import { NonceMemory } from './nonce-memory.ts';
import type { Proof } from './proof.ts';
import type { Accounts, SandboxUser } from './users.ts';

export type SignatureFault = 'missing' | 'malformed' | 'unknown' | 'signature' | 'timestamp' | 'nonce';

const clockTolerance = 5 * 60;

/** Who signed requests, with HMAC-SHA1 as RFC 5849 has it; remembers the nonces that it has seen. */
export class SignatureCheck {
  readonly #secrets: ReadonlyMap<string, string>;
  readonly #tokens: ReadonlyMap<string, { readonly user: SandboxUser; readonly secret: string }>;
  readonly #nonces = new NonceMemory(2 * clockTolerance * 1000);

  constructor({ consumers, users }: Accounts) {
    this.#secrets = new Map(consumers.map(({ key, secret }) => [key, secret]));
    this.#tokens = new Map(
      users.flatMap((user) => user.oauthTokens.map(({ token, secret }) => [token, { user, secret }])),
    );
  }

  check({ method, url, authorization, nowSeconds }: Proof): SandboxUser | SignatureFault {
    if (authorization === undefined) return 'missing';
    const parameters = readAuthorization(authorization);
    if (!parameters || !wellFormed(parameters, url)) return 'malformed';

    const consumer = parameters.get('oauth_consumer_key') ?? '';
    const token = parameters.get('oauth_token') ?? '';
    const consumerSecret = this.#secrets.get(consumer);
    const held = this.#tokens.get(token);
    if (consumerSecret === undefined || !held) return 'unknown';

    const { oauth_signature: _, ...signed } = Object.fromEntries(parameters);
    const secrets = { consumerSecret, tokenSecret: held.secret };
    const expected = signatureOf({ method, address: url.href, parameters: signed }, secrets);
    if (!same(expected, parameters.get('oauth_signature') ?? '')) return 'signature';

    const timestamp = parameters.get('oauth_timestamp') ?? '';
    if (Math.abs(nowSeconds - Number(timestamp)) > clockTolerance) return 'timestamp';
    const nonce = parameters.get('oauth_nonce') ?? '';
    return this.#nonces.use({ consumer, token, timestamp, nonce }) ? held.user : 'nonce';
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
