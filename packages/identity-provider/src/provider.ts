import { commaSeparated } from '@echodrop/service/env';
import { isProfileName, type ProviderProfile, profileNames, providerProfiles } from './provider-profiles.ts';

/** One entry of IDENTITY_PROVIDERS. */
export interface Provider {
  /** The address that clients name and sign for. */
  readonly advertised: string;
  /** The address that is queried. */
  readonly upstream: string;
  readonly profile: ProviderProfile;
}

const entryShape = /^(?:(\S+)\s+)?(https?:\/\/\S+?)(?:=(https?:\/\/\S+))?$/;

/** Reads an entry `[profile ]advertised[=upstream]`. @returns the provider, or what is invalid: the end of a sentence, without an address */
export function readProvider(entry: string): Provider | string {
  const [, profile = 'oauth1', advertised, upstream = advertised] = entryShape.exec(entry) ?? [];
  if (!advertised || !upstream) return 'must be [profile ]advertised[=upstream], with http(s) addresses';
  if (!isProfileName(profile)) return `must begin with an address, or with one of ${profileNames.join(', ')}`;
  for (const url of [URL.parse(advertised), URL.parse(upstream)]) {
    if (url === null) return 'contains an invalid URL';
    // A password would appear in logs and in requests of clients; a fragment is never sent.
    if (url.username || url.password || url.href.includes('#')) return 'has an address with a user or a fragment';
  }
  return { advertised, upstream, profile: providerProfiles[profile] };
}

/** Parses IDENTITY_PROVIDERS: comma-separated entries with distinct advertised addresses. An error contains the number of its entry. */
export function identityProviders(fallback?: string) {
  return commaSeparated(fallback).transform((entries, context): readonly Provider[] => {
    const providers = new Map<string, Provider>();
    for (const [index, entry] of entries.entries()) {
      const found = readProvider(entry);
      if (typeof found === 'string') context.addIssue(`entry ${index + 1} ${found}`);
      else if (!providers.has(found.advertised)) providers.set(found.advertised, found);
      else context.addIssue(`entry ${index + 1} advertises the same address as an earlier entry`);
    }
    return [...providers.values()];
  });
}
