import { xmlDocument } from '@echodrop/record';
import { contentTypes, type Format } from './format.ts';
import type { Refusal } from './refusal-error.ts';

/** The headers and body of a refusal. `scheme`: that of the credentials to send. */
export function encodeRefusal(
  refusal: Pick<Refusal, 'status' | 'reason' | 'sentence' | 'retryAfterSeconds'>,
  format: Format,
  scheme: 'OAuth' | 'Bearer' = 'OAuth',
): { headers: Record<string, string>; body: string } {
  const error = { code: refusal.status, reason: refusal.reason, message: refusal.sentence };
  const body = format === 'xml' ? xmlDocument({ errors: { error } }) : JSON.stringify({ errors: [error] });
  const headers = {
    'Content-Type': contentTypes[format],
    'Content-Length': `${Buffer.byteLength(body)}`,
    ...(refusal.status === 401 && { 'WWW-Authenticate': scheme }),
    ...(refusal.retryAfterSeconds && { 'Retry-After': `${refusal.retryAfterSeconds}` }),
  };
  return { headers, body };
}
