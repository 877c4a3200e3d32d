import { clientOf, isSignInExpired } from '/scripts/service-client.js';
import type { Session } from '/sign-in/page-settings.js';
import { currentSession } from '/sign-in/session.js';

const limitMs = 5000;
const validMs = 60_000;

let checkedAt = -validMs;
let pending: Promise<boolean> | undefined;

/**
 * Whether the gateway refuses the session of this page. A session that it has accepted is checked again after a minute. A refusal of a large
 * upload may reach the browser as a lost connection.
 */
export async function isSessionRefused() {
  const session = currentSession();
  if (!session || performance.now() - checkedAt < validMs) return false;
  pending ??= check(session).finally(() => {
    pending = undefined;
  });
  return await pending;
}

async function check(session: Session) {
  try {
    await clientOf(session).list({ count: 1, signal: AbortSignal.timeout(limitMs) });
    checkedAt = performance.now();
    return false;
  } catch (error) {
    return isSignInExpired(error);
  }
}
