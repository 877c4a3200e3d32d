import type { OAuthCredentials } from '@echodrop/oauth/signed-get';

/** OAuth 1.0a credentials, or a bearer token, which version 1 does not support. */
export type UserCredentials = OAuthCredentials | { readonly bearer: string };

export interface Proof {
  /** The provider's address as the service lists it. */
  readonly provider: string;
  readonly credentials: UserCredentials;
}

/** The headers of version 2. An OAuth 1.0a signature in them is valid once. */
export async function echoHeaders({ provider, credentials }: Proof): Promise<Record<string, string>> {
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': await authorizationOf(provider, credentials),
  };
}

/** The Authorization value for `provider`. */
export async function authorizationOf(provider: string, credentials: UserCredentials): Promise<string> {
  if ('bearer' in credentials) return `Bearer ${credentials.bearer}`;
  // The module is a fifth of what a page would load, and few pages sign.
  const { signedGet } = await import('@echodrop/oauth/signed-get');
  return signedGet(provider, credentials);
}

/** The four secrets of version 1, as form fields. @throws TypeError for a bearer token */
export function secretFields(credentials: UserCredentials): Record<string, string> {
  if ('bearer' in credentials) throw new TypeError('API version 1 does not support bearer tokens. Use version 2.');
  const { consumerKey, consumerSecret, token, tokenSecret } = credentials;
  return {
    consumer_token: consumerKey,
    consumer_secret: consumerSecret,
    oauth_token: token,
    oauth_secret: tokenSecret,
  };
}
