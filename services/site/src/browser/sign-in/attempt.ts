import type { Attempt as ProtocolAttempt } from '/scripts/sign-in-client.js';

/** What must survive the redirect to the provider and back. It contains no token. */
export type Attempt = ProtocolAttempt & { provider: string; returnTo: string; application?: unknown };

const key = 'echodrop.sign-in';
const returnPaths = ['/upload', '/mine', '/mine/apps'];

export function keepAttempt(attempt: Attempt) {
  sessionStorage.setItem(key, JSON.stringify(attempt));
}

/** The sign-in that this tab began. It can be taken once. */
export function takeAttempt(): Attempt | undefined {
  try {
    const attempt = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    sessionStorage.removeItem(key);
    const fields = [attempt?.provider, attempt?.verifier, attempt?.state, attempt?.nonce, attempt?.returnTo];
    return fields.every((field) => typeof field === 'string') ? attempt : undefined;
  } catch {
    return undefined;
  }
}

/** The path to return to: one of our pages that need a session. */
export function returnPath(path: string) {
  return returnPaths.includes(path) ? path : '/upload';
}
