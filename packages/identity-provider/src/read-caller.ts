import { createHmac } from 'node:crypto';
import type { Caller } from '@echodrop/contracts/verification';
import { parseExactJson } from '@echodrop/record';
import type { Secret } from '@echodrop/service/secret';
import type { Provider } from './provider.ts';
import type { ProviderProfile } from './provider-profiles.ts';

// The longest id or name, in UTF-16 units. OpenID Connect Core 1.0, section 2, limits a `sub` to 255.
const maxLength = 255;
const minUserId = -(2n ** 63n);
const maxUserId = 2n ** 64n - 1n;

/** Reads the caller from a provider's 200 response; undefined without an id or a name of at most 255 characters. */
export function readCaller(body: string, { advertised, profile }: Provider, secret: Secret): Caller | undefined {
  const fields = objectIn(body) ?? {};
  const subject = subjectIn(fields, profile);
  const screenName = fields[profile.screenName];
  if (subject === undefined || !isText(screenName)) return undefined;
  return { provider: advertised, subject, userId: userIdOf(subject, advertised, secret), screenName };
}

/** What is missing in a response without a caller (`readCaller` returns undefined). */
export function findMissing(body: string, { profile }: Provider): 'a JSON object' | 'an id' | 'a name' {
  const fields = objectIn(body) ?? {};
  if (Object.keys(fields).length === 0) return 'a JSON object';
  return subjectIn(fields, profile) === undefined ? 'an id' : 'a name';
}

/** The public integer for a subject: the same if it is a 64-bit integer, else a stable one of 63 bits. */
export function userIdOf(subject: string, provider: string, secret: Secret): bigint {
  if (/^(0|-?[1-9]\d{0,19})$/.test(subject)) {
    const id = BigInt(subject);
    if (id >= minUserId && id <= maxUserId) return id;
  }
  const hmac = createHmac('sha256', secret.reveal()).update(JSON.stringify([provider, subject]));
  return hmac.digest().readBigUInt64BE() >> 1n;
}

/** The fields of a JSON object, or undefined if `body` is no JSON object. */
export function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const parsed = parseExactJson(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}

function subjectIn(fields: Record<string, unknown>, profile: ProviderProfile): string | undefined {
  return profile.subject.map((name) => subjectOf(fields[name])).find((found) => found !== undefined);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxLength;
}

function subjectOf(value: unknown): string | undefined {
  const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value;
  return isText(text) ? text : undefined;
}
