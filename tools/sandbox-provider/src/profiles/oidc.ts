import { createdAt, type ProviderResponse, type SandboxProfile } from './profile.ts';

// RFC 6750, section 3: the same error in the challenge and in the body.
function refuse(status: number, error: string, error_description: string): ProviderResponse {
  const challenge = `Bearer realm="sandbox", error="${error}", error_description="${error_description}"`;
  return { status, headers: { 'WWW-Authenticate': challenge }, body: { error, error_description } };
}

/** The UserInfo endpoint of OpenID Connect Core 1.0, with standard claims (sections 5.1 and 5.3). */
export const oidc: SandboxProfile = {
  path: '/userinfo',
  proof: 'bearer',
  user: ({ id, screenName, name }, { origin }) => ({
    sub: String(id),
    name,
    preferred_username: screenName,
    nickname: screenName,
    profile: `${origin}/people/${screenName}`,
    picture: `${origin}/avatars/original.png`,
    email: `${screenName}@sandbox.example`,
    email_verified: false,
    locale: 'en',
    zoneinfo: 'Etc/UTC',
    updated_at: createdAt.getTime() / 1000,
  }),
  refusals: {
    // Section 3.1: no error code without credentials.
    missing: { status: 401, headers: { 'WWW-Authenticate': 'Bearer realm="sandbox"' }, body: {} },
    malformed: refuse(400, 'invalid_request', 'The Authorization header is malformed'),
    unknown: refuse(401, 'invalid_token', 'The access token is unknown or has expired'),
  },
};
