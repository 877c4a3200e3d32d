import type { Credentials } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import { readAuthorization } from '@echodrop/oauth/authorization-header';

type Echo = Extract<Credentials, { version: 2 }>;

const signedNames = ['oauth_consumer_key', 'oauth_token', 'oauth_timestamp', 'oauth_nonce'] as const;

/** Which credentials were shown, to the character, and at which provider. */
export type Proof = readonly string[];

export function proofOf(credentials: Credentials, { advertised }: Provider): Proof {
  if (credentials.version === 2) return ['2', advertised, credentials.authorization];
  const { consumerToken, consumerSecret, oauthToken, oauthSecret } = credentials;
  return ['1', advertised, consumerToken, consumerSecret, oauthToken, oauthSecret];
}

/** A scheme that the provider's profile does not know proves nothing to it. */
export function isSpoken(credentials: Credentials, { profile }: Provider): boolean {
  if (credentials.version === 1) return profile.signsRequests;
  const scheme = credentials.authorization.split(/[ \t]/, 1)[0]?.toLowerCase();
  return profile.schemes.some((known) => known.toLowerCase() === scheme);
}

/** A header that was signed has a nonce. Secrets and bearer tokens are for every use: nobody can tell whose it is. */
export function isGoodOnce(credentials: Credentials, { profile }: Provider): credentials is Echo {
  return credentials.version === 2 && profile.signsRequests;
}

/**
 * What makes a signed header that one, however it is spelt: the provider, who signed, for whom, when, and the nonce (RFC 5849 section
 * 3.3). Undefined if a header lacks one of them, or if a provider could read it in another way.
 */
export function signedOnce({ authorization }: Echo, { advertised }: Provider): Proof | undefined {
  const parameters = isUnambiguous(authorization) ? readPlainly(authorization, signedNames) : undefined;
  const values = signedNames.map((name) => parameters?.get(name)).filter((value) => value !== undefined);
  // WordPress's plugin decodes twice for the signature, and once for the nonce.
  if (values.length < signedNames.length || values.some((value) => value.includes('%'))) return undefined;
  // PHP's library decodes a plus sign as a space; others trim.
  return [advertised, ...values.map((value) => value.replace(/[+\s\p{Cc}]/gu, ''))];
}

// Ruby's library splits at every comma, equals sign and ampersand, quoted or not, and decodes the names; parse_str of PHP turns other
// characters of a name into underscores.
function isUnambiguous(authorization: string): boolean {
  return /^[\w\t ,=]*$/.test(authorization.replace(/"[^",=&]*"/g, ''));
}

/** For whom a header speaks, however it is spelt: its token. All those that cannot be read speak for one and the same. */
export function tokenIn(authorization: string): string {
  const [scheme = ''] = /^\S*/.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'oauth') return authorization.slice(scheme.length).trim();
  return readPlainly(authorization, ['oauth_token'])?.get('oauth_token') ?? '';
}

// Providers search for names in the whole text (the OAuth library of PHP takes the last that it finds, also within a realm or behind
// other letters), or take backslashes away (Python's): what they could read otherwise is not read at all.
function readPlainly(authorization: string, names: readonly string[]): Map<string, string> | undefined {
  const isPlain = /^[\t\x20-\x5b\x5d-\x7e]*$/.test(authorization);
  const isOnce = names.every((name) => authorization.toLowerCase().split(name).length === 2);
  return isPlain && isOnce ? readAuthorization(authorization) : undefined;
}
