import { createHmac, randomBytes } from 'node:crypto';

export interface Signer {
  readonly consumer: { readonly key: string; readonly secret: string };
  readonly token: { readonly key: string; readonly secret: string };
}

/**
 * The value of X-Verify-Credentials-Authorization for a GET of `address` (RFC 5849 section 3.4, docs/reference/interface.md section 5.3).
 * Independent of the library that the system uses, so that both must agree.
 */
export function signEcho(address: string, { consumer, token }: Signer): string {
  const parameters = {
    oauth_consumer_key: consumer.key,
    oauth_nonce: randomBytes(12).toString('hex'),
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_token: token.key,
    oauth_version: '1.0',
  };
  const sorted = Object.entries(parameters).map(([name, value]) => `${percent(name)}=${percent(value)}`);
  const base = ['GET', percent(address), percent(sorted.sort().join('&'))].join('&');
  const signature = createHmac('sha1', `${percent(consumer.secret)}&${percent(token.secret)}`)
    .update(base)
    .digest('base64');
  const pairs = Object.entries({ ...parameters, oauth_signature: signature });
  return `OAuth realm="${new URL(address).origin}/", ${pairs.map(([name, value]) => `${name}="${percent(value)}"`).join(', ')}`;
}

function percent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
