import { type KeyObject, sign } from 'node:crypto';

/** What the site names for its providers. */
export const providersOf = (origin: string) => [
  {
    name: 'Town',
    profile: 'mastodon',
    provider: `${origin}/api/v1/accounts/verify_credentials`,
  },
  {
    name: 'Work',
    profile: 'oidc',
    provider: `${origin}/userinfo`,
    issuer: origin,
    clientId: 'public',
  },
  { name: 'Later', profile: 'unknown', provider: `${origin}/later` },
];

/** The metadata of the OpenID provider, with `changes`. */
export const metadataOf = (origin: string, changes: Record<string, unknown>) => ({
  issuer: origin,
  authorization_endpoint: `${origin}/oauth/authorize`,
  token_endpoint: `${origin}/oauth/token`,
  revocation_endpoint: `${origin}/oauth/revoke`,
  userinfo_endpoint: `${origin}/userinfo`,
  jwks_uri: `${origin}/jwks`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256'],
  ...changes,
});

/** An id token of the user `u-1`, valid for a minute. */
export function idToken(issuer: string, audience: string, nonce: string | null | undefined, key: KeyObject): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: audience, sub: 'u-1', iat: now, exp: now + 60, nonce };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'ES256' })}.${encode(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
