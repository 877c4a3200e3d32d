/** How to query a kind of identity provider, and which fields of its response we read. */
export interface ProviderProfile {
  /** The schemes of the Authorization header that the provider supports. */
  readonly schemes: readonly string[];
  /** Whether the provider accepts requests signed with OAuth 1.0a (HMAC-SHA1), as version 1 needs. */
  readonly signsRequests: boolean;
  /** Response fields that may have the user's id, the most exact first. A subject that is not an integer becomes one (`userIdOf`). */
  readonly subject: readonly string[];
  readonly screenName: string;
}

const signed = { schemes: ['OAuth'], signsRequests: true } as const;
const bearer = { schemes: ['Bearer'], signsRequests: false } as const;

export const providerProfiles = {
  // GET account/verify_credentials of X (developer.x.com, API 1.1) and of its copies. GNU social sends no id_str
  // (`actions/apiaccountverifycredentials.php`, `twitterUserArray` in `lib/apiaction.php`, `lib/apiauth.php`).
  oauth1: { ...signed, subject: ['id_str', 'id'], screenName: 'screen_name' },
  // GET /api/v1/accounts/verify_credentials (docs.joinmastodon.org, "accounts API methods" and "OAuth Scopes").
  // Friendica: `src/Object/Api/Mastodon/Account.php`, `src/Security/OAuth.php`. Pleroma, Akkoma: `account_view.ex` and `account_controller.ex`
  // in `lib/pleroma/web/mastodon_api`; `docs/development/API/differences_in_mastoapi_responses.md`, "Flake IDs".
  mastodon: { ...bearer, subject: ['id'], screenName: 'username' },
  // The UserInfo endpoint (OpenID Connect Core 1.0, sections 5.1, 5.3, 5.4 and 8).
  oidc: { ...bearer, subject: ['sub'], screenName: 'preferred_username' },
  // GET /wp-json/wp/v2/users/me (REST API handbook, "Users"), with the OAuth 1.0a server plugin (`lib/class-wp-rest-oauth1.php`).
  wordpress: { ...signed, subject: ['id'], screenName: 'slug' },
  // GET /_matrix/client/v3/account/whoami, which returns no other name.
  matrix: { ...bearer, subject: ['user_id'], screenName: 'user_id' },
} as const satisfies Record<string, ProviderProfile>;

export type ProfileName = keyof typeof providerProfiles;

export const profileNames = Object.keys(providerProfiles) as ProfileName[];

export function isProfileName(word: string): word is ProfileName {
  return Object.hasOwn(providerProfiles, word);
}
