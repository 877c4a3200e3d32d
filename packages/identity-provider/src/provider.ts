import { isProfileName, type ProviderProfile, providerProfiles } from './provider-profiles.ts';

/** One entry of IDENTITY_PROVIDERS. */
export interface Provider {
  /** The address that a client names and signs for. */
  readonly advertised: string;
  /** The address that is really asked. */
  readonly upstream: string;
  readonly profile: ProviderProfile;
}

const entryShape = /^(?:(\S+) )?(https?:\/\/\S+?)(?:=(https?:\/\/\S+))?$/;

/**
 * Reads an entry `[profile ]advertised[=upstream]`; without a profile's word it is `oauth1`. Addresses have neither a user nor a fragment.
 * @returns undefined when it is not of that shape
 */
export function providerOf(entry: string): Provider | undefined {
  const [, profile = 'oauth1', advertised = '', upstream = advertised] = entryShape.exec(entry) ?? [];
  if (!isProfileName(profile) || !isAskable(advertised) || !isAskable(upstream)) return undefined;
  return { advertised, upstream, profile: providerProfiles[profile] };
}

// A password would stand in logs and in what clients send; a fragment is never sent.
function isAskable(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && !url.username && !url.password && !url.href.includes('#');
}
