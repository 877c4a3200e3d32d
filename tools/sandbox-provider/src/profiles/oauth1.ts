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

/** GET account/verify_credentials of X (API 1.1), with some fields of its user object. */
export const oauth1: SandboxProfile = {
  path: '/1/account/verify_credentials.json',
  proof: 'signature',
  user: (user, { origin }) => ({
    id: idAsNumber(user),
    id_str: String(user.id),
    name: user.name,
    screen_name: user.screenName,
    description: 'A user of the sandbox',
    protected: false,
    created_at: dateOfX(createdAt),
    verified: false,
    profile_image_url_https: `${origin}/avatars/normal.png`,
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
