import { createHmac, randomBytes } from 'node:crypto';

export interface Signer {
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly key: string; readonly secret: string };
}

/** What differs from a usual signed request. */
export interface Changes {
  /** Both secrets, encoded and joined, as the key of the signature. */
  readonly secrets?: string;
  readonly query?: readonly [string, string][];
  readonly oauth?: Record<string, string>;
  readonly without?: readonly string[];
}

/** The value of X-Verify-Credentials-Authorization for a GET of `address` (docs/reference/interface.md section 5.3). */
export function signEcho(address: string, signer: Signer): string {
  const pairs = pairsOf(signedParameters(address, signer)).join(', ');
  return `OAuth realm="${new URL(address).origin}/", ${pairs}`;
}

/**
 * OAuth parameters for a GET of `base`, signed (RFC 5849 section 3.4). Independent of the library that the system uses, so that both must agree.
 */
export function signedParameters(
  base: string,
  { consumer, token }: Signer,
  { secrets = `${percent(consumer.secret)}&${percent(token.secret)}`, query = [], ...more }: Changes = {},
): Record<string, string> {
  const oauth: Record<string, string> = {
    oauth_consumer_key: consumer.key,
    oauth_token: token.key,
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_nonce: randomBytes(12).toString('hex'),
    oauth_version: '1.0',
    ...more.oauth,
  };
  for (const name of more.without ?? []) delete oauth[name];
  const sorted = [...Object.entries(oauth), ...query].map(([name, value]) => `${percent(name)}=${percent(value)}`);
  const text = ['GET', percent(base), percent(sorted.sort().join('&'))].join('&');
  return { ...oauth, oauth_signature: createHmac('sha1', secrets).update(text).digest('base64') };
}

/** Formats parameters as an Authorization header. */
export function oauthHeader(parameters: Record<string, string>, separator = ', '): string {
  return `OAuth ${pairsOf(parameters).join(separator)}`;
}

function pairsOf(parameters: Record<string, string>): string[] {
  return Object.entries(parameters).map(([name, value]) => `${name}="${percent(value)}"`);
}

function percent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
