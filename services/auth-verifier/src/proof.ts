import type { Credentials } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { readAuthorization } from '@echodrop/oauth/authorization-header';

/** What proves a user: the exact credentials and their provider. */
type Proof = readonly string[];

export function proofOf(credentials: Credentials, { advertised }: Provider): Proof {
  if (credentials.version === 2) return ['2', advertised, credentials.authorization];
  const { consumerToken, consumerSecret, oauthToken, oauthSecret } = credentials;
  return ['1', advertised, consumerToken, consumerSecret, oauthToken, oauthSecret];
}

/** Whether the provider's profile supports the authorization scheme. */
export function isSchemeSupported(credentials: Credentials, { profile }: Provider): boolean {
  if (credentials.version === 1) return profile.signsRequests;
  const scheme = credentials.authorization.split(/[ \t]/, 1)[0]?.toLowerCase();
  return profile.schemes.some((supported) => supported.toLowerCase() === scheme);
}

/** Whether a provider may accept the proof only once: signed headers have a nonce, secrets and bearer tokens do not. */
export function isSingleUse(credentials: Credentials, { profile }: Provider): boolean {
  return credentials.version === 2 && profile.signsRequests;
}

/** The token in a header of any spelling, or the whole header if providers may parse the header differently. */
export function tokenIn(authorization: string): string {
  const [scheme = ''] = /^\S*/.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'oauth') return authorization.slice(scheme.length).trim();
  // PHP's OAuth library takes the last name it finds, even within a realm or another name; Python's removes backslashes.
  const isPlain = /^[\t\x20-\x5b\x5d-\x7e]*$/.test(authorization);
  const isOnce = authorization.toLowerCase().split('oauth_token').length === 2;
  const parameters = isPlain && isOnce ? readAuthorization(authorization) : undefined;
  return parameters?.get('oauth_token') ?? authorization;
}

/**
 * The provider of a request: for version 1 the first with OAuth 1.0a, without an address the only one with the scheme. Addresses match only
 * as identical strings, not if they parse equally (docs/why/dependencies.md, "HTTP on Node").
 */
export function findProvider(providers: readonly Provider[], credentials: Credentials): Provider | undefined {
  if (credentials.version === 1) return providers.find(({ profile }) => profile.signsRequests);
  if (credentials.provider !== undefined)
    return providers.find(({ advertised }) => advertised === credentials.provider);
  const [only = providers[0], ...others] = providers.filter((provider) => isSchemeSupported(credentials, provider));
  return others.length === 0 ? only : undefined;
}
