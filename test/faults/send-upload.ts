import { setTimeout as sleep } from 'node:timers/promises';
import { anotherUser } from '@echodrop/testkit/another-user';
import { type UploadOptions, upload } from '@echodrop/testkit/upload';
import type { Outcome } from './ledger.ts';
import type { System } from './start-system.ts';

/** A client's upload, with all its attempts. */
export interface Wanted {
  readonly version: 1 | 2;
  readonly format: 'xml' | 'json';
  readonly user: 'signing' | 'bearer';
  readonly text: string;
  readonly media: Buffer;
  /** The idempotency key. Without it, the client does not repeat after a lost response. */
  readonly key: string | undefined;
  /** Whether each attempt opens its own connection. */
  readonly isAlone: boolean;
}

/** The outcome, as the client knows it. */
export interface Ended {
  readonly outcome: Outcome;
  readonly attempts: number;
  readonly id?: string;
  readonly why?: string;
}

interface UploadResponse {
  /** 0 if there was none. */
  readonly status: number;
  readonly why: string;
  readonly id?: string | undefined;
  readonly retryAfterMs: number;
}

const attemptMs = 15_000;
// Retry-After is up to a minute; these clients have less time.
const longestPauseMs = 2000;
const lostPauseMs = 500;
/** Failure of an attempt that sent nothing. */
export const nothingSent = 'ECONNREFUSED';
// A client retries after a Retry-After, and if a service is unavailable.
const passing = new Set([408, 409, 429, 502, 503]);

/**
 * Sends an upload as clients do. Repeats after a temporary refusal, and with a key also after a lost response, until a final response arrives
 * or `patienceMs` have passed.
 */
export async function sendUpload(system: System, wanted: Wanted, patienceMs: number, turn: number): Promise<Ended> {
  const end = performance.now() + patienceMs;
  for (let attempts = 1; ; attempts += 1) {
    const gateway = system.gateways[(turn + attempts) % system.gateways.length] ?? '';
    const { status, why, id, retryAfterMs } = await attempt({ ...system, gateway }, wanted);
    if (status === 200 && id) return { outcome: 'acknowledged', attempts, id };
    const isLost = status === 0 && why !== nothingSent;
    const isPassing = status === 0 || passing.has(status) || why === '401 provider_unavailable';
    const mayRepeat = isPassing && (!isLost || wanted.key !== undefined);
    if (!mayRepeat || performance.now() > end) return { outcome: isLost ? 'unknown' : 'refused', attempts, why };
    await sleep(retryAfterMs);
  }
}

async function attempt(system: System & { gateway: string }, wanted: Wanted): Promise<UploadResponse> {
  const { version, format, user, text: message, media, key, isAlone } = wanted;
  const headers = {
    ...(user === 'bearer' && anotherUser(system)),
    ...(key !== undefined && { 'Idempotency-Key': `"${key}"` }),
    ...(isAlone && { Connection: 'close' }),
  };
  const options: UploadOptions = { version, format, message, media, headers, signal: AbortSignal.timeout(attemptMs) };
  try {
    const { status, headers: received, text } = await upload(system, options);
    const id = found(/"id":"(\w+)"|<id>(\w+)<\/id>/, text);
    const reason = found(/"reason":"(\w+)"|<reason>(\w+)/, text);
    const retryAfterMs = Math.min(Number(received.get('retry-after') ?? 1) * 1000, longestPauseMs);
    return { status, why: `${status} ${reason}`, id, retryAfterMs };
  } catch (error) {
    return { status: 0, why: codeOf(error), retryAfterMs: lostPauseMs };
  }
}

function found(pattern: RegExp, text: string): string | undefined {
  return pattern.exec(text)?.slice(1).find(Boolean);
}

function codeOf(error: unknown): string {
  const { cause, name } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
}
