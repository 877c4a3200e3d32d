import { hmac } from '@noble/hashes/hmac.js';
import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import OAuth from 'oauth-1.0a';

/** The two credential pairs of OAuth 1.0a: the application's and the user's. */
export interface OAuthCredentials {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly token: string;
  readonly tokenSecret: string;
}

interface SignedRequest {
  readonly method: string;
  /** With its query. */
  readonly address: string;
  /** The protocol parameters without `oauth_signature` and `realm`. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The HMAC-SHA1 signature of a request (RFC 5849 sections 3.4.1, 3.4.2), as Base64. @throws TypeError for an invalid address */
export function signatureOf(
  { method, address, parameters }: SignedRequest,
  { consumerSecret, tokenSecret }: Pick<OAuthCredentials, 'consumerSecret' | 'tokenSecret'>,
): string {
  const url = new URL(address);
  const oauth = new OAuth({
    consumer: { key: '', secret: consumerSecret },
    signature_method: 'HMAC-SHA1',
    // Not `node:crypto`: browsers sign with this module too (`packages/client`).
    hash_function: (base, key) => base64(hmac(sha1, utf8ToBytes(key), utf8ToBytes(base))),
  });
  // The library's own parser keeps a plus sign, and cuts a value at its second equals sign.
  const data = Object.fromEntries([...url.searchParams.keys()].map((name) => [name, url.searchParams.getAll(name)]));
  // A copy: the library adds the query's parameters to this object.
  const copy = { ...parameters } as never;
  return oauth.getSignature({ method, url: url.origin + url.pathname, data }, tokenSecret, copy);
}

/**
 * The Authorization value of a GET of `address`, signed with HMAC-SHA1, in the form of docs/reference/interface.md section 5.3. It is valid once,
 * for some minutes. @throws TypeError for an invalid address
 */
export function signedGet(address: string, credentials: OAuthCredentials): string {
  const parameters = {
    oauth_consumer_key: credentials.consumerKey,
    oauth_signature_method: 'HMAC-SHA1',
    oauth_token: credentials.token,
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_nonce: bytesToHex(randomBytes(16)),
    oauth_version: '1.0',
  };
  const oauth_signature = signatureOf({ method: 'GET', address, parameters }, credentials);
  const pairs = Object.entries({ ...parameters, oauth_signature });
  return `OAuth realm="${new URL(address).origin}/", ${pairs.map(([name, value]) => `${name}="${percentEncode(value)}"`).join(', ')}`;
}

// RFC 5849 section 3.6.
function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
