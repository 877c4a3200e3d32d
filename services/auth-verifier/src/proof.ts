import type { Credentials } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { readAuthorization } from '@echodrop/oauth/authorization-header';

type Echo = Extract<Credentials, { version: 2 }>;

const signedNames = ['oauth_consumer_key', 'oauth_token', 'oauth_timestamp', 'oauth_nonce'] as const;

/** The exact credentials and their provider. */
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
  return profile.schemes.some((known) => known.toLowerCase() === scheme);
}

/** Signed headers have a nonce. Secrets and bearer tokens are the same in every request. */
export function isSingleUse(credentials: Credentials, { profile }: Provider): credentials is Echo {
  return credentials.version === 2 && profile.signsRequests;
}

/**
 * The identity of a signature in any spelling: provider, consumer, token, timestamp and nonce (RFC 5849 section 3.3). Undefined if one is missing,
 * or if a provider might parse the header differently.
 */
export function signatureIdentity({ authorization }: Echo, { advertised }: Provider): Proof | undefined {
  const parameters = isUnambiguous(authorization) ? readPlainly(authorization, signedNames) : undefined;
  const values = signedNames.map((name) => parameters?.get(name)).filter((value) => value !== undefined);
  // WordPress's plugin decodes twice for the signature, and once for the nonce.
  if (values.length < signedNames.length || values.some((value) => value.includes('%'))) return undefined;
  // PHP's library decodes a plus sign as a space; others trim.
  return [advertised, ...values.map((value) => value.replace(/[+\s\p{Cc}]/gu, ''))];
}

// Ruby's library splits at commas, equals signs and ampersands even in quotes, and decodes names; PHP's parse_str replaces other
// characters in names with underscores.
function isUnambiguous(authorization: string): boolean {
  return /^[\w\t ,=]*$/.test(authorization.replace(/"[^",=&]*"/g, ''));
}

/** The token in a header of any spelling. Of a header that providers may parse differently, the whole header. */
export function tokenIn(authorization: string): string {
  const [scheme = ''] = /^\S*/.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'oauth') return authorization.slice(scheme.length).trim();
  return readPlainly(authorization, ['oauth_token'])?.get('oauth_token') ?? authorization;
}

// Rejects what providers may parse differently: PHP's OAuth library takes the last name it finds, even within a realm or another
// name; Python's removes backslashes.
function readPlainly(authorization: string, names: readonly string[]): Map<string, string> | undefined {
  const isPlain = /^[\t\x20-\x5b\x5d-\x7e]*$/.test(authorization);
  const isOnce = names.every((name) => authorization.toLowerCase().split(name).length === 2);
  return isPlain && isOnce ? readAuthorization(authorization) : undefined;
}
