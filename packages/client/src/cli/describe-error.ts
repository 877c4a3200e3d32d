import { RequestRefused } from '../client-errors.ts';
import { visible } from './command-context.ts';

const advice: Readonly<Record<string, string>> = {
  credentials_refused: 'Check the credentials, or run `echodrop login`.',
  removed: 'It was uploaded and removed. `--again` uploads it once more.',
};

/** What happened and what to do, on one line. */
export function describeError(error: unknown): string {
  if (error instanceof RequestRefused) {
    const { status, reason, message } = error;
    return visible(`${message} (${status} ${reason})${advice[reason] ? ` ${advice[reason]}` : ''}`);
  }
  if (!(error instanceof Error)) return visible(String(error));
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    causes.push(cause.message || String(Reflect.get(cause, 'code')));
  return visible([error.message, ...new Set(causes)].join(': ').replaceAll('.: ', '. '));
}

/** The same for scripts. */
export function errorFields(error: unknown): Record<string, unknown> {
  const { status, reason } = error instanceof RequestRefused ? error : { status: undefined, reason: 'failed' };
  return { ...(status !== undefined && { status }), reason, message: describeError(error) };
}
