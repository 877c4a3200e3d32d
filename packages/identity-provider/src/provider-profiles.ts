/** How to query a kind of identity provider, and which fields of its response we read; docs/reference/identity-providers.md has the source of each field. */
export interface ProviderProfile {
  /** Supported schemes of the Authorization header. */
  readonly schemes: readonly string[];
  /** Whether it accepts requests signed with OAuth 1.0a (HMAC-SHA1), as version 1 needs. */
  readonly signsRequests: boolean;
  /** Response fields that may have the user's id, the most exact first. A subject that is not an integer becomes one (`userIdOf`). */
  readonly subject: readonly string[];
  readonly screenName: string;
}

const signed = { schemes: ['OAuth'], signsRequests: true } as const;
const bearer = { schemes: ['Bearer'], signsRequests: false } as const;

export const providerProfiles = {
  // GET account/verify_credentials of X (API 1.1) and of its copies; GNU social sends no id_str.
  oauth1: { ...signed, subject: ['id_str', 'id'], screenName: 'screen_name' },
  // GET /api/v1/accounts/verify_credentials.
  mastodon: { ...bearer, subject: ['id'], screenName: 'username' },
  // The UserInfo endpoint (OpenID Connect Core 1.0, sections 5.1 and 5.3).
  oidc: { ...bearer, subject: ['sub'], screenName: 'preferred_username' },
  // GET /wp-json/wp/v2/users/me, with the OAuth 1.0a server plugin.
  wordpress: { ...signed, subject: ['id'], screenName: 'slug' },
  // GET /_matrix/client/v3/account/whoami, which returns no other name.
  matrix: { ...bearer, subject: ['user_id'], screenName: 'user_id' },
} as const satisfies Record<string, ProviderProfile>;

export type ProfileName = keyof typeof providerProfiles;

export const profileNames = Object.keys(providerProfiles) as ProfileName[];

export function isProfileName(word: string): word is ProfileName {
  return Object.hasOwn(providerProfiles, word);
}
