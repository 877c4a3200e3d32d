import { createHash } from 'node:crypto';

/** The scopes that a sign-in may request: what shows who the user is, and refresh tokens. None reads or changes anything else. */
const allowedScopes = {
  mastodon: ['profile', 'read:accounts'],
  oidc: ['openid', 'profile', 'offline_access'],
} as const satisfies Record<string, readonly string[]>;

/** The profiles of providers at which people sign in. */
export type SignInProfile = keyof typeof allowedScopes;

/** What is wrong with the scopes of a sign-in, as the end of a sentence; undefined if nothing is. */
export function scopeFault(profile: SignInProfile, scope: string): string | undefined {
  const allowed: readonly string[] = allowedScopes[profile];
  const scopes = scope.split(' ');
  if (!scopes.every((each) => allowed.includes(each))) return `may contain only ${allowed.join(', ')}`;
  return profile === 'oidc' && !scopes.includes('openid') ? 'must contain openid' : undefined;
}

/** Where a sign-in goes: the provider's advertised address and, with OpenID Connect, its issuer. */
interface SignInTarget {
  readonly provider: string;
  readonly issuer?: string | undefined;
}

/**
 * The path to which this provider alone redirects (RFC 9700, section 4.4.2). Operators register it: never change it.
 * Clients derive it themselves: a site that could choose it could take the path of another provider or program. An issuer on another server is
 * part of it, because that server names the endpoint that gets the code.
 */
export function redirectPath({ provider, issuer = provider }: SignInTarget): string {
  const isOneServer = URL.parse(issuer)?.origin === URL.parse(provider)?.origin;
  const source = isOneServer ? provider : `${provider} ${issuer}`;
  return `/sign-in/${createHash('sha256').update(source).digest('hex').slice(0, 16)}`;
}
