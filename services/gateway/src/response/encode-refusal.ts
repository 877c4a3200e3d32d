import { xmlDocument } from '@echodrop/record';
import { contentTypes, type Format } from './format.ts';
import type { Refusal } from './refusal-error.ts';

// RFC 6750 section 3 requires a parameter; clients of around 2010 know the bare name.
const challenges = { OAuth: 'OAuth', Bearer: 'Bearer realm="Echodrop"' } as const;

/** The headers and body of a refusal. `scheme`: the scheme of the credentials to send. */
export function encodeRefusal(
  refusal: Pick<Refusal, 'status' | 'reason' | 'sentence' | 'retryAfterSeconds'>,
  format: Format,
  scheme: keyof typeof challenges = 'OAuth',
): { headers: Record<string, string>; body: string } {
  const error = { code: refusal.status, reason: refusal.reason, message: refusal.sentence };
  const body = format === 'xml' ? xmlDocument({ errors: { error } }) : JSON.stringify({ errors: [error] });
  const headers = {
    'Content-Type': contentTypes[format],
    'Content-Length': `${Buffer.byteLength(body)}`,
    ...(refusal.status === 401 && { 'WWW-Authenticate': challenges[scheme] }),
    ...(refusal.retryAfterSeconds && { 'Retry-After': `${refusal.retryAfterSeconds}` }),
  };
  return { headers, body };
}
