import { createHmac, randomBytes } from 'node:crypto';
import type { Credentials } from '@echodrop/contracts/verification';
import OAuth from 'oauth-1.0a';

type Secrets = Extract<Credentials, { version: 1 }>;

/** The Authorization value of a GET of `address`, signed with HMAC-SHA1 (RFC 5849 section 3.4.2) by version 1's four secrets. */
export function signedGet(
  address: string,
  { consumerToken, consumerSecret, oauthToken, oauthSecret }: Secrets,
): string {
  const oauth = new OAuth({
    consumer: { key: consumerToken, secret: consumerSecret },
    signature_method: 'HMAC-SHA1',
    hash_function: (base, key) => createHmac('sha1', key).update(base).digest('base64'),
  });
  oauth.getNonce = () => randomBytes(16).toString('hex');
  const signed = oauth.authorize({ url: address, method: 'GET' }, { key: oauthToken, secret: oauthSecret });
  return oauth.toHeader(signed).Authorization;
}
