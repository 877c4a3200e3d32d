import { createHmac } from 'node:crypto';
import type { Caller } from '@echodrop/contracts/verification';
import { parseExactJson } from '@echodrop/record';
import type { Secret } from '@echodrop/service/secret';
import type { Provider } from './provider.ts';
import type { ProviderProfile } from './provider-profiles.ts';

// Longer than any that are known, in UTF-16 units; OpenID Connect Core 1.0, section 2, has a sub of 255 at most.
const longestText = 255;
const smallestUserId = -(2n ** 63n);
const largestUserId = 2n ** 64n - 1n;

/** The caller in a provider's 200 answer; undefined when it holds no id or no name, or one of more than 255 characters. */
export function readCaller(
  answer: string,
  { advertised, profile }: Provider,
  userIdSecret: Secret,
): Caller | undefined {
  const fields = objectIn(answer);
  const subject = subjectIn(fields, profile);
  const screenName = fields[profile.screenName];
  if (subject === undefined || !isText(screenName)) return undefined;
  return { provider: advertised, subject, userId: userIdOf(subject, advertised, userIdSecret), screenName };
}

/** What is missing in an answer without a caller (`readCaller` returns undefined). */
export function missingIn(answer: string, { profile }: Provider): 'JSON object' | 'id' | 'name' {
  const fields = objectIn(answer);
  if (Object.keys(fields).length === 0) return 'JSON object';
  return subjectIn(fields, profile) === undefined ? 'id' : 'name';
}

/** The interface's integer for a subject: itself, or for one that is no 64-bit integer a stable one of 63 bits. */
export function userIdOf(subject: string, provider: string, secret: Secret): bigint {
  if (/^(0|-?[1-9]\d{0,19})$/.test(subject)) {
    const id = BigInt(subject);
    if (id >= smallestUserId && id <= largestUserId) return id;
  }
  const hash = createHmac('sha256', secret.reveal())
    .update(JSON.stringify([provider, subject]))
    .digest();
  return hash.readBigUInt64BE() >> 1n;
}

function objectIn(answer: string): Record<string, unknown> {
  try {
    const parsed = parseExactJson(answer);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function subjectIn(fields: Record<string, unknown>, profile: ProviderProfile): string | undefined {
  return profile.subject.map((name) => subjectOf(fields[name])).find((found) => found !== undefined);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestText;
}

function subjectOf(value: unknown): string | undefined {
  if (isText(value)) return value;
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : undefined;
}
