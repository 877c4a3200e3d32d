import { sandboxProfiles } from '../profiles/profiles.ts';
import { publicClientId } from './clients.ts';

/** The entries of WEB_SIGN_IN for a sandbox at `origin`. */
export function signInProvidersAt(origin: string): readonly object[] {
  return [
    { name: 'Sandbox', profile: 'mastodon', provider: origin + sandboxProfiles.mastodon.path },
    {
      name: 'Sandbox (OpenID Connect)',
      profile: 'oidc',
      provider: origin + sandboxProfiles.oidc.path,
      issuer: origin,
      clientId: publicClientId,
    },
  ];
}
