import { randomUUID } from 'node:crypto';
import { newMediaId } from '@echodrop/record';
import type { RotatedSecret } from '@echodrop/service/env';
import { mayEndWithFailover } from '@echodrop/service/redis/failover';
import type { RedisConnection } from '@echodrop/service/redis/redis';
import { retryFor } from '@echodrop/service/retry-for';
import type { Forgeries } from '@echodrop/service/seals/forgeries';
import { hashesFor, type KeyedHash } from '@echodrop/service/seals/keyed-hash';
import { Sealer } from '@echodrop/service/seals/sealer';
import { z } from 'zod';
import type { Uploader } from '../publish/commit-record.ts';

const keptMs = 24 * 60 * 60 * 1000;

/** An idempotency key, which belongs to one user and one application. */
export interface KeyScope extends Uploader {
  readonly key: string;
}

/** The sealed payload for which a key was used, and the id of its record. */
export type Claim = z.infer<typeof claimShape> & {
  /** The claim as Redis has it. */
  readonly text: string;
};

const claimShape = z.object({
  fingerprint: z.string(),
  mediaId: z.string(),
  /** The attempt that holds the claim. */
  holder: z.string(),
  /** Whether an earlier attempt may have written the record. */
  takenOver: z.boolean(),
});

// Replaces the claim ARGV[1] if it has at most ARGV[2] ms to live. It may be ARGV[3] already: then the reply to an earlier try was lost.
const replaceScript = `
local claim = redis.call('GET', KEYS[1])
if claim ~= ARGV[3] and (claim ~= ARGV[1] or redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2])) then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1`;

// Sets the time to live of the claim if it is still ARGV[1]. 0 ms deletes it.
const expireScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

interface ClaimsOptions {
  /** The longest that an attempt works after it made a claim. */
  readonly maxHoldMs: number;
  /** How long a failed command is repeated, except a release. */
  readonly failoverMs: number;
  /** The secret of the seals. All gateways know it, and no worker. */
  readonly secret: RotatedSecret;
  readonly forgeries: Pick<Forgeries, 'report'>;
}

/**
 * Claims on idempotency keys in Redis, shared by all gateways, sealed for their key, kept for 24 hours. Who reads Redis cannot confirm a guessed
 * user, key or payload. During a rotation of the secret, a claim has two names. Errors of Redis reject.
 */
export class IdempotencyClaims {
  readonly #redis: RedisConnection;
  readonly #options: Omit<ClaimsOptions, 'secret'>;
  readonly #names: readonly KeyedHash[];
  readonly #sealer: Sealer;
  readonly #payloads: Sealer;

  constructor(redis: RedisConnection, { secret, ...options }: ClaimsOptions) {
    this.#redis = redis;
    this.#options = options;
    // All gateways use one order.
    const sorted = secret.toSorted((one, other) => (one && other && one.reveal() < other.reveal() ? -1 : 1));
    this.#names = hashesFor(sorted, 'idempotency keys');
    this.#sealer = new Sealer(secret, 'idempotency claims');
    this.#payloads = new Sealer(secret, 'idempotency payloads');
  }

  /** Claims a free key for `mediaId`, or returns its claim. A forged claim is counted and replaced. */
  async claim(
    scope: KeyScope,
    payload: string,
    mediaId = newMediaId(),
  ): Promise<{ readonly isNew: boolean; readonly claim: Claim }> {
    const fingerprint = this.#payloads.seal(placeOf(scope), payload);
    const claim = this.#seal(scope, { fingerprint, mediaId, holder: randomUUID(), takenOver: false });
    for (const name of this.#namesOf(scope)) {
      const earlier = await this.#claimName(name, scope, claim);
      if (!earlier) continue;
      await this.release(scope, claim, false);
      return { isNew: false, claim: earlier };
    }
    return { isNew: true, claim };
  }

  /** Whether a claim is for this payload. */
  isFor(scope: KeyScope, { fingerprint }: Claim, payload: string): boolean {
    return this.#payloads.isValid(fingerprint, placeOf(scope), payload);
  }

  /** Takes over a claim once no attempt can be at work on it, by Redis's clock; undefined before that, or if another attempt was first. */
  async takeOver(scope: KeyScope, claim: Claim): Promise<Claim | undefined> {
    const { text, ...known } = claim;
    const taken = this.#seal(scope, { ...known, holder: randomUUID(), takenOver: true });
    const maxMs = keptMs - this.#options.maxHoldMs;
    const replaced = await Promise.all(this.#namesOf(scope).map((name) => this.#replace(name, text, taken, maxMs)));
    return replaced.includes(true) ? taken : undefined;
  }

  /** Seconds until a repeat should try again: the age of the claim, but no longer than until it can be taken over. */
  async retryAfterSeconds(scope: KeyScope): Promise<number> {
    const ttls = await this.#repeat(() => Promise.all(this.#namesOf(scope).map((name) => this.#redis.pttl(name))));
    const leftMs = Math.max(...ttls) - (keptMs - this.#options.maxHoldMs);
    const ageMs = this.#options.maxHoldMs - leftMs;
    return Math.max(2, Math.ceil(Math.min(ageMs, leftMs) / 1000));
  }

  /** Ends an attempt. Frees the key, or, if the record may exist, lets the claim be taken over at once. */
  async release(scope: KeyScope, claim: Claim, mayExist: boolean): Promise<void> {
    const ms = mayExist ? keptMs - this.#options.maxHoldMs : 0;
    await Promise.all(this.#namesOf(scope).map((name) => this.#redis.eval(expireScript, 1, name, claim.text, ms)));
  }

  /** Stores `claim` under a free name, or returns the claim that has it. */
  async #claimName(name: string, scope: KeyScope, claim: Claim): Promise<Claim | undefined> {
    const earlier = await this.#repeat(() => this.#redis.set(name, claim.text, 'PX', keptMs, 'NX', 'GET'));
    if (earlier === null) return undefined;
    // An earlier try of this command made the claim, maybe a while ago.
    if (earlier === claim.text && (await this.#replace(name, earlier, claim, keptMs))) return undefined;
    const text = this.#sealer.unwrap(placeOf(scope), earlier);
    if (text !== undefined) return { ...claimShape.parse(JSON.parse(text)), text: earlier };
    this.#options.forgeries.report('claim', { name });
    const isReplaced = await this.#replace(name, earlier, claim, Number.MAX_SAFE_INTEGER);
    return isReplaced ? undefined : this.#claimName(name, scope, claim);
  }

  async #replace(name: string, text: string, claim: Claim, maxMs: number): Promise<boolean> {
    const replace = () => this.#redis.eval(replaceScript, 1, name, text, maxMs, claim.text, keptMs);
    return (await this.#repeat(replace)) === 1;
  }

  // Each command may be repeated after it took effect.
  #repeat<T>(command: () => Promise<T>): Promise<T> {
    return retryFor(this.#options.failoverMs, command, mayEndWithFailover).catch((cause: unknown) => {
      throw new Error('queue Redis unavailable', { cause });
    });
  }

  #seal(scope: KeyScope, claim: z.infer<typeof claimShape>): Claim {
    return { ...claim, text: this.#sealer.wrap(placeOf(scope), JSON.stringify(claim)) };
  }

  #namesOf(scope: KeyScope): string[] {
    const text = JSON.stringify(placeOf(scope));
    // Version 1 had no seals, and version 2 hashes without a key.
    return this.#names.map((name) => this.#redis.names.nameOf('idempotency', 3, name.hexDigest(text)));
  }
}

function placeOf({ provider, subject, application, key }: KeyScope): readonly string[] {
  return [provider, subject, application, key];
}
