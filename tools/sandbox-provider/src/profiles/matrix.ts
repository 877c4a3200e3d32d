import type { SandboxUser } from '../users.ts';
import type { SandboxProfile } from './profile.ts';

/** GET /_matrix/client/v3/account/whoami (Matrix client-server API); refusals are its standard error responses. */
export const matrix: SandboxProfile = {
  path: '/_matrix/client/v3/account/whoami',
  proof: 'bearer',
  user: (user, origin) => ({ user_id: matrixId(user, origin), device_id: 'SANDBOX', is_guest: false }),
  refusals: {
    missing: { status: 401, body: { errcode: 'M_MISSING_TOKEN', error: 'Missing access token' } },
    unknown: {
      status: 401,
      body: { errcode: 'M_UNKNOWN_TOKEN', error: 'Unrecognised access token', soft_logout: false },
    },
  },
};

/** `@name:host`, with the port if there is one. */
export function matrixId({ screenName }: SandboxUser, { host }: URL): string {
  return `@${screenName.toLowerCase()}:${host}`;
}
