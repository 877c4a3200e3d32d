import { randomBytes } from 'node:crypto';
import { percentEncoded, signatureOf } from './signature.ts';

/** The two credential pairs of OAuth 1.0a: the application's and the user's. */
export interface OAuthCredentials {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly token: string;
  readonly tokenSecret: string;
}

/**
 * The Authorization value of a GET of `address`, signed with HMAC-SHA1, in the shape of docs/interface.md section 5.3; good for some
 * minutes, and once. @throws TypeError for what is no address
 */
export function signedGet(
  address: string,
  { consumerKey, consumerSecret, token, tokenSecret }: OAuthCredentials,
): string {
  const parameters = {
    oauth_consumer_key: consumerKey,
    oauth_signature_method: 'HMAC-SHA1',
    oauth_token: token,
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_nonce: randomBytes(16).toString('hex'),
    oauth_version: '1.0',
  };
  const oauth_signature = signatureOf({ method: 'GET', address, parameters }, { consumerSecret, tokenSecret });
  const pairs = Object.entries({ ...parameters, oauth_signature });
  return `OAuth realm="${new URL(address).origin}/", ${pairs.map(([name, value]) => `${name}="${percentEncoded(value)}"`).join(', ')}`;
}
