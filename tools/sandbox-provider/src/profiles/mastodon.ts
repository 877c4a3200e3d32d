import { createdAt, type SandboxProfile } from './profile.ts';

const description = 'A user of the sandbox';

/** GET /api/v1/accounts/verify_credentials of Mastodon, with the fields of its CredentialAccount. */
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
    discoverable: null,
    indexable: false,
    group: false,
    created_at: createdAt.toISOString(),
    note: `<p>${description}</p>`,
    url: `${origin}/@${screenName}`,
    uri: `${origin}/users/${screenName}`,
    avatar: `${origin}/avatars/original.png`,
    avatar_static: `${origin}/avatars/original.png`,
    header: `${origin}/headers/original.png`,
    header_static: `${origin}/headers/original.png`,
    followers_count: 0,
    following_count: 0,
    statuses_count: 0,
    last_status_at: null,
    hide_collections: null,
    noindex: false,
    source: {
      privacy: 'public',
      sensitive: false,
      language: null,
      note: description,
      fields: [],
      follow_requests_count: 0,
    },
    emojis: [],
    roles: [],
    fields: [],
    role: { id: '-99', name: '', color: '', permissions: '65536', highlighted: false },
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
