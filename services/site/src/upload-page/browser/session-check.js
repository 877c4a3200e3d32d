// @ts-check
import { isSignInExpired } from '/scripts/service-response.js';
import { pageSettings } from '/sign-in/page-settings.js';
import { credentialHeaders, currentSession } from '/sign-in/session.js';

const limitMs = 5000;
const validMs = 60_000;

let checkedAt = -validMs;
/** @type {ReturnType<typeof check> | undefined} */
let pending;

/**
 * The response with which the gateway refuses the session. A session that it has accepted is checked again after a minute. A refusal of a large upload may reach the browser as a lost
 * connection.
 *
 * @returns {Promise<import('/scripts/service-response.js').ServiceResponse | undefined>} undefined without a session, and if no response refuses it
 */
export async function sessionRefusal() {
  const session = currentSession();
  if (!session || performance.now() - checkedAt < validMs) return undefined;
  pending ??= check(session).finally(() => {
    pending = undefined;
  });
  return await pending;
}

/** @param {import('/sign-in/page-settings.js').Session} session */
async function check(session) {
  const response = await listOne(session).catch(() => undefined);
  if (response && isSignInExpired(response)) return response;
  if (response?.status === 200) checkedAt = performance.now();
  return undefined;
}

/** @param {import('/sign-in/page-settings.js').Session} session */
async function listOne(session) {
  const address = `${pageSettings().upload}/2/media.json?count=1`;
  const response = await fetch(address, { headers: credentialHeaders(session), signal: AbortSignal.timeout(limitMs) });
  return { status: response.status, text: await response.text(), retryAfter: null };
}
