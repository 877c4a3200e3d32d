import { setTimeout as sleep } from 'node:timers/promises';
import { anotherUser } from '@echodrop/testkit/another-user';
import { type UploadOptions, upload } from '@echodrop/testkit/upload';
import type { Outcome } from './ledger.ts';
import type { System } from './start-system.ts';

/** An upload, with all attempts. */
export interface Wanted {
  readonly version: 1 | 2;
  readonly format: 'xml' | 'json';
  readonly user: 'signing' | 'bearer';
  readonly text: string;
  readonly media: Buffer;
  /** The idempotency key. Without one, the client does not retry after a lost response. */
  readonly key: string | undefined;
  /** Whether each attempt opens a new connection. */
  readonly opensConnection: boolean;
}

/** The outcome for the client. */
export interface Ended {
  readonly outcome: Outcome;
  readonly attempts: number;
  readonly id?: string;
  readonly why?: string;
}

interface UploadResponse {
  /** 0 without a response. */
  readonly status: number;
  readonly why: string;
  readonly id?: string | undefined;
  readonly retryAfterMs: number;
}

const attemptMs = 15_000;
// These clients do not wait for a Retry-After of up to a minute.
const longestPauseMs = 2000;
const lostPauseMs = 500;
/** Failure of an attempt that sent nothing. */
export const nothingSent = 'ECONNREFUSED';
const retryable = new Set([408, 409, 429, 502, 503]);

/**
 * Sends an upload. Retries after a temporary refusal, and with a key also after a lost response, until a final response
 * arrives or `patienceMs` have passed.
 */
export async function sendUpload(system: System, wanted: Wanted, patienceMs: number, turn: number): Promise<Ended> {
  const end = performance.now() + patienceMs;
  for (let attempts = 1; ; attempts += 1) {
    const gateway = system.gateways[(turn + attempts) % system.gateways.length] ?? '';
    const { status, why, id, retryAfterMs } = await attempt({ ...system, gateway }, wanted);
    if (status === 200 && id) return { outcome: 'acknowledged', attempts, id };
    const isLost = status === 0 && why !== nothingSent;
    const isRetryable = status === 0 || retryable.has(status) || why === '401 provider_unavailable';
    const mayRepeat = isRetryable && (!isLost || wanted.key !== undefined);
    if (!mayRepeat || performance.now() > end) return { outcome: isLost ? 'unknown' : 'refused', attempts, why };
    await sleep(retryAfterMs);
  }
}

async function attempt(system: System & { gateway: string }, wanted: Wanted): Promise<UploadResponse> {
  const { version, format, user, text: message, media, key, opensConnection } = wanted;
  const headers = {
    ...(user === 'bearer' && anotherUser(system)),
    ...(key !== undefined && { 'Idempotency-Key': `"${key}"` }),
    ...(opensConnection && { Connection: 'close' }),
  };
  const options: UploadOptions = { version, format, message, media, headers, signal: AbortSignal.timeout(attemptMs) };
  try {
    const { status, headers: received, text } = await upload(system, options);
    const id = firstGroup(/"id":"(\w+)"|<id>(\w+)<\/id>/, text);
    const reason = firstGroup(/"reason":"(\w+)"|<reason>(\w+)/, text);
    const retryAfterMs = Math.min(Number(received.get('retry-after') ?? 1) * 1000, longestPauseMs);
    return { status, why: `${status} ${reason}`, id, retryAfterMs };
  } catch (error) {
    return { status: 0, why: codeOf(error), retryAfterMs: lostPauseMs };
  }
}

function firstGroup(pattern: RegExp, text: string): string | undefined {
  return pattern.exec(text)?.slice(1).find(Boolean);
}

function codeOf(error: unknown): string {
  const { cause, name } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
}
