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
 * Reads an entry `[profile ]advertised[=upstream]`; without a profile's word it is `oauth1`.
 * @returns undefined when it is not of that shape
 */
export function providerOf(entry: string): Provider | undefined {
  const [, profile = 'oauth1', advertised = '', upstream = advertised] = entryShape.exec(entry) ?? [];
  if (!isProfileName(profile) || !URL.canParse(advertised) || !URL.canParse(upstream)) return undefined;
  return { advertised, upstream, profile: providerProfiles[profile] };
}
