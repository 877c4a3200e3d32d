import { idAsNumber, type ProviderResponse, type SandboxProfile } from './profile.ts';

function refuse(code: string, message: string): ProviderResponse {
  return { status: 401, body: { code, message, data: { status: 401 } } };
}

/** GET /wp-json/wp/v2/users/me of WordPress; refusals are those of its OAuth 1.0a server plugin. */
export const wordpress: SandboxProfile = {
  path: '/wp-json/wp/v2/users/me',
  proof: 'signature',
  user: (user, { origin }) => ({
    id: idAsNumber(user),
    name: user.name,
    url: '',
    description: 'A user of the sandbox',
    link: `${origin}/author/${slugOf(user)}/`,
    slug: slugOf(user),
    avatar_urls: Object.fromEntries([24, 48, 96].map((size) => [size, `${origin}/avatars/${size}.png`])),
    meta: [],
    _links: {
      self: [{ href: `${origin}/wp-json/wp/v2/users/${encodeURIComponent(user.id.toString())}` }],
      collection: [{ href: `${origin}/wp-json/wp/v2/users` }],
    },
  }),
  refusals: {
    missing: refuse('rest_not_logged_in', 'You are not currently logged in.'),
    malformed: refuse('json_oauth1_missing_parameter', 'Missing OAuth parameters'),
    unknown: refuse('json_oauth1_consumer_mismatch', 'Token is not registered for the given consumer'),
    signature_invalid: refuse('json_oauth1_signature_mismatch', 'OAuth signature does not match'),
    timestamp_off: refuse('json_oauth1_invalid_timestamp', 'Invalid timestamp'),
    nonce_reused: refuse('json_oauth1_nonce_already_used', 'Invalid nonce - nonce has already been used'),
  },
};

// WordPress makes a slug from a login: lower case, with hyphens instead of dots.
function slugOf({ screenName }: { readonly screenName: string }): string {
  return screenName.toLowerCase().replaceAll('.', '-');
}
