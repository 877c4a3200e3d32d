/** How a kind of identity provider is asked, and where its answer holds what we need. */
export interface ProviderProfile {
  /** The schemes of an Authorization header that it understands. */
  readonly schemes: readonly string[];
  /** Whether it takes requests that are signed with OAuth 1.0a, as version 1 needs. */
  readonly signsRequests: boolean;
  /** The fields of its answer that may hold the user's id, the exactest first. */
  readonly subject: readonly string[];
  readonly screenName: string;
}

export const providerProfiles = {
  // GET account/verify_credentials of X (API 1.1) and of those that copied it.
  oauth1: { schemes: ['OAuth'], signsRequests: true, subject: ['id_str', 'id'], screenName: 'screen_name' },
} as const satisfies Record<string, ProviderProfile>;

export type ProfileName = keyof typeof providerProfiles;

export function isProfileName(word: string): word is ProfileName {
  return Object.hasOwn(providerProfiles, word);
}
