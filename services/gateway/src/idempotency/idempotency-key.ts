import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from '../answer/refusals.ts';

const maxLength = 255;

/**
 * The value of `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header, section 2.1), undefined where there is none: a string of
 * RFC 8941 in quotes. Clients that know an older custom leave the quotes out; then it may hold neither spaces nor quotes.
 * @throws Refusal `idempotency_key_malformed`
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const value = headers['idempotency-key']?.toString();
  if (value === undefined) return undefined;
  const quoted = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/.exec(value)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? /^[\x21\x23-\x5b\x5d-\x7e]+$/.exec(value)?.[0];
  if (key === undefined || key.length > maxLength) throw new Refusal('idempotency_key_malformed');
  return key;
}
