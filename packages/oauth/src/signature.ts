import { createHmac } from 'node:crypto';
import OAuth from 'oauth-1.0a';

/** What is signed: the address with its query, and the protocol parameters without `oauth_signature` and `realm`. */
export interface SignedParts {
  readonly method: string;
  readonly address: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface SigningSecrets {
  readonly consumerSecret: string;
  readonly tokenSecret: string;
}

/** The HMAC-SHA1 signature of a request (RFC 5849 sections 3.4.1, 3.4.2), as base64. @throws TypeError for what is no address */
export function signatureOf({ method, address, parameters }: SignedParts, secrets: SigningSecrets): string {
  const url = new URL(address);
  const oauth = new OAuth({
    consumer: { key: '', secret: secrets.consumerSecret },
    signature_method: 'HMAC-SHA1',
    hash_function: (base, key) => createHmac('sha1', key).update(base).digest('base64'),
  });
  // Our own reading of the query: the library's takes a plus for a plus, and cuts a value at its second equals sign.
  const data = Object.fromEntries([...url.searchParams.keys()].map((name) => [name, url.searchParams.getAll(name)]));
  // A copy, since the library adds the query's parameters to what it is given.
  const given = { ...parameters } as never;
  return oauth.getSignature({ method, url: url.origin + url.pathname, data }, secrets.tokenSecret, given);
}

/** RFC 5849 section 3.6: what a parameter looks like in a header. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
