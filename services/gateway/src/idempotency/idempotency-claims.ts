import { hash, randomUUID } from 'node:crypto';
import { newMediaId } from '@echodrop/record';
import type { RotatedSecret } from '@echodrop/service/env';
import { mayEndWithFailover } from '@echodrop/service/redis/failover';
import type { RedisConnection } from '@echodrop/service/redis/redis';
import { retryFor } from '@echodrop/service/retry-for';
import type { Forgeries } from '@echodrop/service/seals/forgeries';
import { Sealer } from '@echodrop/service/seals/sealer';
import { z } from 'zod';
import type { Owner } from '../publish/commit-record.ts';

const keptMs = 24 * 60 * 60 * 1000;

/** A key belongs to one user and one application. */
export interface KeyScope extends Owner {
  readonly key: string;
}

/** The payload for which a key was used, and the id of its record. */
export type Claim = z.infer<typeof claimShape> & {
  /** As stored in Redis. */
  readonly text: string;
};

const claimShape = z.object({
  fingerprint: z.string(),
  mediaId: z.string(),
  /** The attempt that holds it. */
  holder: z.string(),
  /** Whether an earlier attempt may have written the record. */
  takenOver: z.boolean(),
});

// Only if the claim is still ARGV[1], with at most ARGV[2] ms to live, or is ARGV[3] already: the reply to an earlier try was lost.
const replaceScript = `
local claim = redis.call('GET', KEYS[1])
if claim ~= ARGV[3] and (claim ~= ARGV[1] or redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2])) then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1`;

// Only if the claim is still ARGV[1]. 0 ms deletes it.
const expireScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

interface ClaimsOptions {
  /** The longest that an attempt works after it made a claim. */
  readonly maxHoldMs: number;
  /** How long a failed command is repeated, except a release. */
  readonly failoverMs: number;
  /** Known to all gateways, and to no worker. */
  readonly secret: RotatedSecret;
  readonly forgeries: Pick<Forgeries, 'report'>;
}

/** Claims on idempotency keys in Redis, shared by all gateways, sealed for their key, kept for 24 hours. Errors of Redis reject. */
export class IdempotencyClaims {
  readonly #redis: RedisConnection;
  readonly #maxHoldMs: number;
  readonly #failoverMs: number;
  readonly #sealer: Sealer;
  readonly #forgeries: Pick<Forgeries, 'report'>;

  constructor(redis: RedisConnection, { maxHoldMs, failoverMs, secret, forgeries }: ClaimsOptions) {
    this.#redis = redis;
    this.#maxHoldMs = maxHoldMs;
    this.#failoverMs = failoverMs;
    this.#sealer = new Sealer(secret, 'idempotency claims');
    this.#forgeries = forgeries;
  }

  /** Claims a free key for `mediaId`, or returns its claim. A forged claim is counted and replaced. */
  async claim(
    scope: KeyScope,
    fingerprint: string,
    mediaId = newMediaId(),
  ): Promise<{ readonly isNew: boolean; readonly claim: Claim }> {
    const name = this.#nameOf(scope);
    const claim = this.#seal(name, { fingerprint, mediaId, holder: randomUUID(), takenOver: false });
    const earlier = await this.#repeat(() => this.#redis.set(name, claim.text, 'PX', keptMs, 'NX', 'GET'));
    if (earlier === null) return { isNew: true, claim };
    // An earlier try made it, maybe a while ago.
    if (earlier === claim.text && (await this.#replace(name, earlier, claim, keptMs))) return { isNew: true, claim };
    const text = this.#sealer.unwrap([name], earlier);
    if (text !== undefined) return { isNew: false, claim: { ...claimShape.parse(JSON.parse(text)), text: earlier } };
    this.#forgeries.report('claim', { name });
    const isReplaced = await this.#replace(name, earlier, claim, Number.MAX_SAFE_INTEGER);
    return isReplaced ? { isNew: true, claim } : this.claim(scope, fingerprint, mediaId);
  }

  /** Takes over a claim once no attempt can be at work on it, by Redis's clock; undefined before that, or if another attempt was first. */
  async takeOver(scope: KeyScope, claim: Claim): Promise<Claim | undefined> {
    const name = this.#nameOf(scope);
    const { text, ...known } = claim;
    const taken = this.#seal(name, { ...known, holder: randomUUID(), takenOver: true });
    return (await this.#replace(name, text, taken, keptMs - this.#maxHoldMs)) ? taken : undefined;
  }

  /** Seconds until a repeat should try again: the age of the claim, but no longer than until it can be taken over. */
  async retryAfterSeconds(scope: KeyScope): Promise<number> {
    const leftMs = (await this.#repeat(() => this.#redis.pttl(this.#nameOf(scope)))) - (keptMs - this.#maxHoldMs);
    const ageMs = this.#maxHoldMs - leftMs;
    return Math.max(2, Math.ceil(Math.min(ageMs, leftMs) / 1000));
  }

  /** Ends an attempt. Frees the key, or, if the record may exist, lets the claim be taken over at once. */
  async release(scope: KeyScope, claim: Claim, mayExist: boolean): Promise<void> {
    const ms = mayExist ? keptMs - this.#maxHoldMs : 0;
    await this.#redis.eval(expireScript, 1, this.#nameOf(scope), claim.text, ms);
  }

  async #replace(name: string, text: string, claim: Claim, maxMs: number): Promise<boolean> {
    const replace = () => this.#redis.eval(replaceScript, 1, name, text, maxMs, claim.text, keptMs);
    return (await this.#repeat(replace)) === 1;
  }

  // Each command may be repeated after it took effect.
  #repeat<T>(command: () => Promise<T>): Promise<T> {
    return retryFor(this.#failoverMs, command, mayEndWithFailover).catch((cause: unknown) => {
      throw new Error('queue Redis unavailable', { cause });
    });
  }

  #seal(name: string, claim: z.infer<typeof claimShape>): Claim {
    return { ...claim, text: this.#sealer.wrap([name], JSON.stringify(claim)) };
  }

  #nameOf({ provider, subject, application, key }: KeyScope): string {
    // Version 1 had no seals.
    const scopeHash = hash('sha256', JSON.stringify([provider, subject, application, key]));
    return this.#redis.names.nameOf('idempotency', 2, scopeHash);
  }
}
