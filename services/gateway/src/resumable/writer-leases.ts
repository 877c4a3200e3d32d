import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { mayEndWithFailover } from '@echodrop/service/redis/failover';
import type { RedisConnection } from '@echodrop/service/redis/redis';
import { retryFor } from '@echodrop/service/retry-for';
import { Refusal } from '../response/refusal-error.ts';

const leaseMs = 15_000;
const renewalMs = 1000;
// A holder whose client is silent gives the lease up within two renewals.
const waitMs = 3000;
const pollMs = 200;
const wantedMs = 5000;

// Takes a free lease for ARGV[1], or leaves its holder a sign, for ARGV[3] ms, that another writer waits.
const acquireScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  redis.call('SET', KEYS[2], 1, 'PX', ARGV[3])
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
return 1`;

// Renews a lease, or takes back one that Redis has lost. Returns 0 if another writer has the lease, or 2 if another writer waits for it.
const renewScript = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1 + redis.call('EXISTS', KEYS[2])`;

const releaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1], KEYS[2])`;

/** The right to write one resumable upload. Disposing releases it. */
export interface WriterLease extends AsyncDisposable {
  /** Aborted if the lease is lost, or given up because another writer waits and `isIdle` is true. */
  readonly signal: AbortSignal;
  /** Whether the holder waits for its client. */
  isIdle: () => boolean;
}

/**
 * Leases in Redis, shared by all gateways: one writer for each upload. They only keep writers from hindering each other. What is stored depends on
 * the numbers of the states (packages/archive/src/resumable-uploads.ts).
 */
export class WriterLeases {
  readonly #redis: RedisConnection;
  readonly #failoverMs: number;

  /** `failoverMs`: how long a failed command is repeated. */
  constructor(redis: RedisConnection, failoverMs: number) {
    this.#redis = redis;
    this.#failoverMs = failoverMs;
  }

  /** Waits up to three seconds for the lease of an upload of `owner`, a hash. @throws Refusal `upload_locked`; the reason of `signal`; an error of Redis */
  async acquire(id: string, owner: string, signal: AbortSignal): Promise<WriterLease> {
    const holder = randomUUID();
    const end = performance.now() + waitMs;
    // Braces: a Redis Cluster keeps both keys in one slot.
    const key = this.#redis.names.nameOf('resumable', `{${id}}`, owner);
    const acquire = () => this.#run(acquireScript, key, holder, leaseMs, wantedMs);
    while ((await retryFor(this.#failoverMs, acquire, mayEndWithFailover)) === 0) {
      if (performance.now() >= end) throw new Refusal('upload_locked');
      await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return this.#hold(key, holder);
  }

  #hold(key: string, holder: string): WriterLease {
    const ended = new AbortController();
    let renewedAt = performance.now();
    // A failed renewal is not repeated: the next one comes soon, and none may come after the release.
    const renew = async () => {
      const outcome = await this.#run(renewScript, key, holder, leaseMs).catch(() => undefined);
      const isLost = outcome === undefined ? performance.now() - renewedAt > leaseMs : outcome === 0;
      if (isLost || (outcome === 2 && lease.isIdle())) ended.abort(new Refusal('upload_locked'));
      if (outcome !== undefined) renewedAt = performance.now();
    };
    const timer = setInterval(renew, renewalMs);
    const lease: WriterLease = {
      signal: ended.signal,
      isIdle: () => false,
      [Symbol.asyncDispose]: async () => {
        clearInterval(timer);
        // If Redis fails, the lease expires.
        await this.#run(releaseScript, key, holder).catch(() => {});
      },
    };
    return lease;
  }

  #run(script: string, key: string, ...args: (string | number)[]): Promise<unknown> {
    return this.#redis.eval(script, 2, `${key}:writer`, `${key}:wanted`, ...args);
  }
}
