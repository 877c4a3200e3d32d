// @ts-check
import { clientOf, isSignInExpired } from '/scripts/service-client.js';
import { currentSession } from '/sign-in/session.js';

const limitMs = 5000;
const validMs = 60_000;

let checkedAt = -validMs;
/** @type {Promise<boolean> | undefined} */
let pending;

/**
 * Whether the gateway refuses the session of this page. A session that it has accepted is checked again after a minute. A refusal of a large upload
 * may reach the browser as a lost connection.
 */
export async function isSessionRefused() {
  const session = currentSession();
  if (!session || performance.now() - checkedAt < validMs) return false;
  pending ??= check(session).finally(() => {
    pending = undefined;
  });
  return await pending;
}

/** @param {import('/sign-in/page-settings.js').Session} session */
async function check(session) {
  try {
    await clientOf(session).list({ count: 1, signal: AbortSignal.timeout(limitMs) });
    checkedAt = performance.now();
    return false;
  } catch (error) {
    return isSignInExpired(error);
  }
}
