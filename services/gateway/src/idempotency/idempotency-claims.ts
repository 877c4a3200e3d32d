import { createHash, randomUUID } from 'node:crypto';
import { newMediaId } from '@echodrop/record';
import type { RotatedSecret } from '@echodrop/service/env';
import type { Forgeries } from '@echodrop/service/forgeries';
import type { connectRedis } from '@echodrop/service/redis/redis';
import { Sealer } from '@echodrop/service/sealer';
import { z } from 'zod';

const keptMs = 24 * 60 * 60 * 1000;

/** Whose key it is: keys of different users and applications never meet. */
export interface KeyScope {
  readonly provider: string;
  readonly subject: string;
  readonly application: string;
  readonly key: string;
}

/** What is known of a key that was used: for which payload, and under which id the record lies once there is one. */
export type Claim = z.infer<typeof claimShape> & {
  /** The claim as Redis has it. */
  readonly text: string;
};

const claimShape = z.object({
  fingerprint: z.string(),
  mediaId: z.string(),
  /** Which attempt holds it. */
  holder: z.string(),
  /** Whether an attempt before this one may have written the record. */
  takenOver: z.boolean(),
});

// Only where the claim is still the one that was read, and has at most ARGV[2] ms to live.
const replaceScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1`;

// Only where the claim is still ours. With 0 ms to live it is gone.
const expireScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

/**
 * The claims on idempotency keys, in Redis for all gateways together, each kept for 24 hours and sealed for its key. What Redis fails
 * with rejects.
 */
export class IdempotencyClaims {
  readonly #redis: ReturnType<typeof connectRedis>;
  readonly #heldMs: number;
  readonly #sealer: Sealer;
  readonly #forgeries: Pick<Forgeries, 'found'>;

  /** `heldMs`: the longest that an attempt which made a claim may still be at work. `secret` is one that all gateways have, and no worker. */
  constructor(
    redis: ReturnType<typeof connectRedis>,
    heldMs: number,
    secret: RotatedSecret,
    forgeries: Pick<Forgeries, 'found'>,
  ) {
    this.#redis = redis;
    this.#heldMs = heldMs;
    this.#sealer = new Sealer(secret, 'idempotency claims');
    this.#forgeries = forgeries;
  }

  /**
   * Claims a key that nobody has claimed, else tells what it was claimed for. A new claim has a new media id. A claim that no gateway has
   * made is counted, and replaced.
   */
  async claim(scope: KeyScope, fingerprint: string): Promise<{ readonly isNew: boolean; readonly claim: Claim }> {
    const name = nameOf(scope);
    const claim = this.#sealed(name, {
      fingerprint,
      mediaId: newMediaId(),
      holder: randomUUID(),
      takenOver: false,
    });
    const earlier = await this.#redis.set(name, claim.text, 'PX', keptMs, 'NX', 'GET');
    if (earlier === null) return { isNew: true, claim };
    const text = this.#sealer.unwrap([name], earlier);
    if (text !== undefined) return { isNew: false, claim: { ...claimShape.parse(JSON.parse(text)), text: earlier } };
    this.#forgeries.found('claim', { name });
    const isReplaced = await this.#replace(name, earlier, claim, Number.MAX_SAFE_INTEGER);
    return isReplaced ? { isNew: true, claim } : this.claim(scope, fingerprint);
  }

  /**
   * Takes over a claim, with its media id, once nobody can be at work on it any more; undefined before that, or where somebody else
   * was first. Its age is what Redis says, so that no two clocks are compared.
   */
  async takeOver(scope: KeyScope, claim: Claim): Promise<Claim | undefined> {
    const name = nameOf(scope);
    const { text, ...known } = claim;
    const taken = this.#sealed(name, { ...known, holder: randomUUID(), takenOver: true });
    return (await this.#replace(name, text, taken, keptMs - this.#heldMs)) ? taken : undefined;
  }

  /** When a repeat should come again, in seconds: soon after a young claim, later after an older one, at last when it can be taken over. */
  async retryAfterSeconds(scope: KeyScope): Promise<number> {
    const leftMs = (await this.#redis.pttl(nameOf(scope))) - (keptMs - this.#heldMs);
    const ageMs = this.#heldMs - leftMs;
    return Math.max(2, Math.ceil(Math.min(ageMs, leftMs) / 1000));
  }

  /** Nothing was published under the claim, and nothing will be: the key is free again. */
  async release(scope: KeyScope, claim: Claim): Promise<void> {
    await this.#expireIn(0, scope, claim);
  }

  /** Nobody is at work on the claim any more, but its record may be there: it can be taken over at once. */
  async leave(scope: KeyScope, claim: Claim): Promise<void> {
    await this.#expireIn(keptMs - this.#heldMs, scope, claim);
  }

  async #expireIn(ms: number, scope: KeyScope, claim: Claim): Promise<void> {
    await this.#redis.eval(expireScript, 1, nameOf(scope), claim.text, ms);
  }

  async #replace(name: string, text: string, claim: Claim, mostMs: number): Promise<boolean> {
    return (await this.#redis.eval(replaceScript, 1, name, text, mostMs, claim.text, keptMs)) === 1;
  }

  #sealed(name: string, claim: z.infer<typeof claimShape>): Claim {
    return { ...claim, text: this.#sealer.wrap([name], JSON.stringify(claim)) };
  }
}

function nameOf({ provider, subject, application, key }: KeyScope): string {
  const hash = createHash('sha256').update(JSON.stringify([provider, subject, application, key]));
  // Version 1 had no seals.
  return `echodrop:idempotency:2:${hash.digest('hex')}`;
}
