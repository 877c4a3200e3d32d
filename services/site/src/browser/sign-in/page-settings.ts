/** A provider at which people sign in; `provider` is its advertised address. It alone redirects to `redirectPath`. */
type AnyProvider = { name: string; provider: string; redirectPath: string; scope?: string };
export type MastodonProvider = AnyProvider & { profile: 'mastodon' };
export type Provider = MastodonProvider | (AnyProvider & { profile: 'oidc'; issuer: string; clientId: string });

/** Who is signed in, in this tab only. `name` is for people, `subject` the id at the provider; `provider` is the advertised address; `application` revokes the token, which is valid until `expiresAt` (milliseconds) if the provider says so. */
export type Session = {
  provider: string;
  providerName: string;
  token: string;
  name: string;
  subject?: string;
  application?: unknown;
  expiresAt?: number;
};

/** What the site says of itself in every page that signs in. */
export function pageSettings(): { upload: string; apiKey?: string; providers: readonly Provider[] } {
  const settings = document.getElementById('sign-in-settings')?.dataset['settings'];
  return settings === undefined ? { upload: '', providers: [] } : JSON.parse(settings);
}
