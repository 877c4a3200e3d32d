import type { ProfileName } from '@echodrop/identity-provider/provider-profiles';
import { exactNumber } from '@echodrop/record';
import { publicClientId } from './sign-in/clients.ts';
import type { SandboxUser } from './users.ts';

/** A kind of identity provider, with the fields that Echodrop reads. The testkit has whole responses of real software. */
export interface SandboxProfile {
  readonly path: string;
  readonly proof: 'signature' | 'bearer';
  /** The response for a user; `address` is the requested one. */
  readonly user: (user: SandboxUser, address: URL) => Readonly<Record<string, unknown>>;
}

export const sandboxProfiles: Readonly<Record<ProfileName, SandboxProfile>> = {
  oauth1: {
    path: '/1/account/verify_credentials.json',
    proof: 'signature',
    user: (user) => ({ id: idInJson(user), id_str: String(user.id), name: user.name, screen_name: user.screenName }),
  },
  mastodon: {
    path: '/api/v1/accounts/verify_credentials',
    proof: 'bearer',
    user: ({ id, screenName, name }) => ({ id: String(id), username: screenName, display_name: name }),
  },
  oidc: {
    path: '/userinfo',
    proof: 'bearer',
    user: ({ id, screenName, name }) => ({ sub: String(id), name, preferred_username: screenName }),
  },
  wordpress: {
    path: '/wp-json/wp/v2/users/me',
    proof: 'signature',
    // WordPress makes a slug from a login: lower case, with hyphens instead of dots.
    user: (user) => ({
      id: idInJson(user),
      name: user.name,
      slug: user.screenName.toLowerCase().replaceAll('.', '-'),
    }),
  },
  matrix: {
    path: '/_matrix/client/v3/account/whoami',
    proof: 'bearer',
    user: (user, address) => ({ user_id: matrixId(user, address), device_id: 'SANDBOX', is_guest: false }),
  },
};

export const profileEntries = Object.entries(sandboxProfiles) as readonly [ProfileName, SandboxProfile][];

/** `@name:host`, with the port if there is one. */
export function matrixId({ screenName }: SandboxUser, { host }: URL): string {
  return `@${screenName.toLowerCase()}:${host}`;
}

/** The entries of IDENTITY_PROVIDERS for a sandbox at `origin`, the default profile first. `upstream`: where the auth-verifier finds it, if elsewhere. */
export function identityProvidersAt(origin: string, upstream = origin): string[] {
  return profileEntries.map(([name, { path }]) => {
    const advertised = `${name === 'oauth1' ? '' : `${name} `}${origin}${path}`;
    return upstream === origin ? advertised : `${advertised}=${upstream}${path}`;
  });
}

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

/** A number if the id is one, with all of its digits. */
function idInJson({ id }: SandboxUser): unknown {
  return typeof id === 'bigint' ? exactNumber(id) : id;
}
