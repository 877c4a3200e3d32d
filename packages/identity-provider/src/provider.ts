import { isProfileName, type ProviderProfile, profileNames, providerProfiles } from './provider-profiles.ts';

/** One entry of IDENTITY_PROVIDERS. */
export interface Provider {
  /** The address that a client names and signs for. */
  readonly advertised: string;
  /** The address that is really asked. */
  readonly upstream: string;
  readonly profile: ProviderProfile;
}

const entryShape = /^(?:(\S+)\s+)?(https?:\/\/\S+?)(?:=(https?:\/\/\S+))?$/;

/**
 * Reads an entry `[profile ]advertised[=upstream]`; without a profile's word it is `oauth1`.
 * @returns undefined where `faultIn` finds something
 */
export function providerOf(entry: string): Provider | undefined {
  const { profile, advertised, upstream } = partsOf(entry);
  if (faultIn(entry) !== undefined || !isProfileName(profile)) return undefined;
  return { advertised, upstream, profile: providerProfiles[profile] };
}

/** What is wrong with an entry, as the end of a sentence that holds no address; undefined where nothing is. */
export function faultIn(entry: string): string | undefined {
  const { profile, advertised, upstream } = partsOf(entry);
  if (advertised === '') return 'must be [profile ]advertised[=upstream], with http(s) addresses';
  if (!isProfileName(profile)) return `must begin with an address, or with one of ${profileNames.join(', ')}`;
  for (const url of [URL.parse(advertised), URL.parse(upstream)]) {
    if (url === null) return 'has an address that cannot be read';
    // A password would stand in logs and in what clients send; a fragment is never sent.
    if (url.username || url.password || url.href.includes('#')) return 'has an address with a user or a fragment';
  }
  return undefined;
}

function partsOf(entry: string): { profile: string; advertised: string; upstream: string } {
  const [, profile = 'oauth1', advertised = '', upstream = advertised] = entryShape.exec(entry) ?? [];
  return { profile, advertised, upstream };
}
