import { createdAt, idAsNumber, type SandboxProfile } from './profile.ts';

// RFC 5849 section 3.5.1: the scheme's challenge. Error codes and messages of X, which old clients know.
function refuse(code: number, message: string) {
  return {
    status: 401,
    headers: { 'WWW-Authenticate': 'OAuth realm="sandbox"' },
    body: { errors: [{ code, message }] },
  };
}

const bad = refuse(215, 'Bad Authentication data');

/** GET account/verify_credentials of X (API 1.1), with the fields of its user object. */
export const oauth1: SandboxProfile = {
  path: '/1/account/verify_credentials.json',
  proof: 'signature',
  user: (user, { origin }) => ({
    id: idAsNumber(user),
    id_str: String(user.id),
    name: user.name,
    screen_name: user.screenName,
    location: '',
    description: 'A user of the sandbox',
    url: null,
    entities: { description: { urls: [] } },
    protected: false,
    followers_count: 0,
    friends_count: 0,
    listed_count: 0,
    created_at: dateOfX(createdAt),
    favourites_count: 0,
    utc_offset: null,
    time_zone: null,
    geo_enabled: false,
    verified: false,
    statuses_count: 0,
    lang: null,
    contributors_enabled: false,
    is_translator: false,
    is_translation_enabled: false,
    profile_background_color: 'F5F8FA',
    profile_background_image_url: null,
    profile_background_image_url_https: null,
    profile_background_tile: false,
    profile_image_url: `${origin}/avatars/normal.png`,
    profile_image_url_https: `${origin}/avatars/normal.png`,
    profile_link_color: '1DA1F2',
    profile_sidebar_border_color: 'C0DEED',
    profile_sidebar_fill_color: 'DDEEF6',
    profile_text_color: '333333',
    profile_use_background_image: true,
    has_extended_profile: false,
    default_profile: true,
    default_profile_image: true,
    following: false,
    follow_request_sent: false,
    notifications: false,
    translator_type: 'none',
    suspended: false,
    needs_phone_verification: false,
  }),
  refusals: {
    missing: bad,
    malformed: bad,
    unknown: refuse(89, 'Invalid or expired token'),
    signature_invalid: refuse(32, 'Could not authenticate you'),
    timestamp_off: refuse(135, 'Timestamp out of bounds'),
    nonce_reused: refuse(32, 'Could not authenticate you'),
  },
};

// Thu Jan 01 00:00:00 +0000 2026
function dateOfX(date: Date): string {
  const [weekday = '', day, month, year, time] = date.toUTCString().split(' ');
  return `${weekday.slice(0, 3)} ${month} ${day} ${time} +0000 ${year}`;
}
