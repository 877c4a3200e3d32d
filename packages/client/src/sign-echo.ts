import { createHmac, randomBytes } from 'node:crypto';
import OAuth from 'oauth-1.0a';

/** The two pairs of OAuth 1.0a: the application's, and the one that stands for its user. */
export interface OAuthCredentials {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly token: string;
  readonly tokenSecret: string;
}

/**
 * The value of `X-Verify-Credentials-Authorization`: what the user would send as `Authorization` of a GET of `provider`, the
 * identity provider's address, signed with HMAC-SHA1, in the shape of INTERFACE section 5.3. Good for some minutes, and once.
 */
export function signEcho(
  provider: string,
  { consumerKey, consumerSecret, token, tokenSecret }: OAuthCredentials,
): string {
  const url = new URL(provider);
  const oauth = new OAuth({
    consumer: { key: consumerKey, secret: consumerSecret },
    signature_method: 'HMAC-SHA1',
    hash_function: (base, key) => createHmac('sha1', key).update(base).digest('base64'),
  });
  const signed = {
    oauth_consumer_key: consumerKey,
    oauth_signature_method: 'HMAC-SHA1',
    oauth_token: token,
    oauth_timestamp: oauth.getTimeStamp(),
    oauth_nonce: randomBytes(16).toString('hex'),
    oauth_version: '1.0',
  };
  const oauth_signature = oauth.getSignature({ method: 'GET', url: url.href }, tokenSecret, signed);
  const parameters = Object.entries({ ...signed, oauth_signature }).map(
    ([name, value]) => `${name}="${oauth.percentEncode(String(value))}"`,
  );
  return `OAuth realm="${url.origin}/", ${parameters.join(', ')}`;
}
