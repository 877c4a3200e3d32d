import type { ProfileName } from '@echodrop/identity-provider/provider-profiles';
import { mastodon } from './mastodon.ts';
import { matrix } from './matrix.ts';
import { oauth1 } from './oauth1.ts';
import { oidc } from './oidc.ts';
import type { SandboxProfile } from './profile.ts';
import { wordpress } from './wordpress.ts';

export const sandboxProfiles: Readonly<Record<ProfileName, SandboxProfile>> = {
  oauth1,
  mastodon,
  oidc,
  wordpress,
  matrix,
};

export const profileEntries = Object.entries(sandboxProfiles) as readonly [ProfileName, SandboxProfile][];

/** The entries of IDENTITY_PROVIDERS for a sandbox at `origin`, the default profile first. `upstream`: where the auth-verifier finds it, if elsewhere. */
export function identityProvidersAt(origin: string, upstream = origin): string[] {
  return profileEntries.map(([name, { path }]) => {
    const advertised = `${name === 'oauth1' ? '' : `${name} `}${origin}${path}`;
    return upstream === origin ? advertised : `${advertised}=${upstream}${path}`;
  });
}
