import { obstacleOf, RequestRefused, ServiceUnreachable } from '../client-errors.ts';
import { visible, visibleName } from '../visible-text.ts';

// These replace messages of the service, which does not know this program.
const ownMessages: Readonly<Record<string, string>> = {
  removed: 'This file was uploaded before and then deleted. To publish it again, add --again.',
  api_key_unknown: 'This server does not accept this API key.',
};
const advice: Readonly<Record<string, string>> = {
  credentials_refused: 'Check the credentials, or sign in again.',
  api_key_unknown: 'Check --key or ECHODROP_KEY, or run `echodrop login` again.',
  provider_unknown: 'Check --provider, or run `echodrop login` again.',
};

// The longest message of another service, in columns. Messages of Echodrop are shorter.
const maxMessage = 1000;

/** What happened and what to do, on one line. */
export function describeError(error: unknown): string {
  // The message of a response without a reason has the status.
  const isKnown = error instanceof RequestRefused && error.reason !== 'unknown';
  return describe(error, isKnown ? ` (${error.status} ${visibleName(error.reason)})` : '');
}

/** What happened, as JSON for scripts. */
export function errorFields(error: unknown): Record<string, unknown> {
  const { status, reason } = error instanceof RequestRefused ? error : { status: undefined, reason: 'failed' };
  return { ...(status !== undefined && { status }), reason, message: describe(error) };
}

function describe(error: unknown, status = ''): string {
  if (error instanceof RequestRefused) {
    const { message, reason } = error;
    return visible(
      `${ownMessages[reason] ?? visibleName(message, maxMessage)}${status} ${advice[reason] ?? ''}`.trimEnd(),
    );
  }
  if (!(error instanceof Error)) return visible(String(error));
  const messages = new Set<string>();
  for (let each: unknown = error; each instanceof Error; each = each.cause) messages.add(plainMessage(each));
  // The obstacle's message explains them.
  if (error instanceof ServiceUnreachable && obstacleOf(error) !== undefined)
    for (const undiciMessage of ['fetch failed', 'bad port', 'unexpected redirect']) messages.delete(undiciMessage);
  return visible([...messages].join(': ').replaceAll('.: ', '. '));
}

// Node writes `ENOENT: no such file or directory, open '/a'` or `ENOSPC: no space left on device, write`, and nothing if several addresses refuse a
// connection.
function plainMessage(error: Error): string {
  if (error.name === 'NotReadableError') return 'The file changed while it was read. Upload it again.';
  if (error.name === 'TimeoutError') return 'No response in time. Check the connection and try again.';
  const { message, path, reason, code: given } = error as NodeJS.ErrnoException & { readonly reason?: string };
  // A DOMException has a number.
  const code = given === undefined ? undefined : String(given);
  if (code?.startsWith('ERR_SSL_')) return `TLS failed: ${reason}`;
  const fault = code && /^[A-Z]\w+: (.*), \w+(?: '|$)/.exec(message)?.[1];
  if (!fault) return message || code || error.name;
  return path ? `${path}: ${fault}` : fault;
}
