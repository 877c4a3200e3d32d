/** A provider at which people sign in; `provider` is its advertised address. It alone redirects to `redirectPath`. */
type AnyProvider = { name: string; provider: string; redirectPath: string; scope?: string };
export type MastodonProvider = AnyProvider & { profile: 'mastodon' };
export type Provider = MastodonProvider | (AnyProvider & { profile: 'oidc'; issuer: string; clientId: string });

/** The application that got a token, and where it revokes the token. A provider may have no endpoint for that. */
export type TokenApplication = { endpoint: string; clientId: string; clientSecret?: string };

/**
 * Who is signed in, in this browser. `name` is the name at the provider, `publicName` the one that uploads show, `subject` the id at the provider. The
 * token is valid until `expiresAt` (milliseconds), if the provider says so.
 */
export type Session = {
  id: string;
  provider: string;
  providerName: string;
  name: string;
  publicName: string;
  subject?: string;
  application?: TokenApplication;
  expiresAt?: number;
};

/** What the site says of itself in every page that signs in. */
export function pageSettings(): { upload: string; apiKey?: string; providers: readonly Provider[] } {
  const settings = document.getElementById('sign-in-settings')?.dataset['settings'];
  return settings === undefined ? { upload: '', providers: [] } : JSON.parse(settings);
}

/** The public origin of the site. People may have opened the page by another name of the host. */
export function siteOrigin(): string {
  return document.getElementById('sign-in-settings')?.dataset['site'] ?? location.origin;
}
