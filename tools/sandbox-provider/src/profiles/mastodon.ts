import { createdAt, type SandboxProfile } from './profile.ts';

/** GET /api/v1/accounts/verify_credentials of Mastodon, with some fields of its CredentialAccount. */
export const mastodon: SandboxProfile = {
  path: '/api/v1/accounts/verify_credentials',
  proof: 'bearer',
  user: ({ id, screenName, name }, { origin }) => ({
    id: String(id),
    username: screenName,
    acct: screenName,
    display_name: name,
    locked: false,
    bot: false,
    created_at: createdAt.toISOString(),
    note: '<p>A user of the sandbox</p>',
    url: `${origin}/@${screenName}`,
    avatar: `${origin}/avatars/original.png`,
    source: { privacy: 'public', sensitive: false, note: 'A user of the sandbox' },
  }),
  refusals: {
    unknown: {
      status: 401,
      headers: {
        'WWW-Authenticate':
          'Bearer realm="Doorkeeper", error="invalid_token", error_description="The access token is invalid"',
      },
      body: { error: 'The access token is invalid' },
    },
  },
};
