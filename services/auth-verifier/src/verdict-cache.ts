import { setTimeout as sleep } from 'node:timers/promises';
import { type ProviderUser, type Verdict, verdictShape } from '@echodrop/contracts/verification';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { CacheKeys } from './cache-keys.ts';

const pollMs = 50;
// Verifiers' clocks may differ by so much.
const clockDifferenceMs = 5000;

// Other releases may have other shapes: what cannot be read is as good as nothing.
const keptShape = z.discriminatedUnion('state', [
  z.object({ version: z.literal(1), state: z.literal('asking') }),
  z.object({ version: z.literal(1), state: z.literal('decided'), askedAt: z.number(), verdict: verdictShape }),
]);

type Kept = z.output<typeof keptShape>;

/** Which credentials were shown, and to which provider. */
export type Proof = readonly string[];

interface Times {
  readonly verifiedSeconds: number;
  readonly refusedSeconds: number;
  /** How long another verifier may be asking; longer than a provider may take. */
  readonly leaseMs: number;
}

/** `decided`: there is a verdict. `leased`: it is for this verifier to ask. `undecided`: another one asked and was told none. */
export type Found =
  | { readonly state: 'decided'; readonly verdict: Verdict }
  | { readonly state: 'leased' | 'undecided' };

/** Verdicts that all verifiers share. A cache that is down or hangs costs speed, never an answer: then nothing is found and nothing is kept. */
export class VerdictCache {
  readonly #redis: Pick<Redis, 'get' | 'set' | 'del'>;
  readonly #keys: CacheKeys;
  readonly #times: Times;

  constructor(redis: Pick<Redis, 'get' | 'set' | 'del'>, keys: CacheKeys, times: Times) {
    this.#redis = redis;
    this.#keys = keys;
    this.#times = times;
  }

  /**
   * What is known of a proof. While another verifier asks, this waits: a provider that takes a nonce once would refuse the second of
   * two questions. Who is given the lease asks, and then has the outcome remembered, whichever it is.
   */
  async find(proof: Proof): Promise<Found> {
    const keys = this.#keys.of('verdict', ...proof);
    const end = performance.now() + this.#times.leaseMs;
    try {
      for (let waited = false; performance.now() < end; waited = true) {
        const kept = await this.#read(keys);
        if (kept === 'void') return { state: 'leased' };
        if (kept?.state === 'decided') return kept;
        if (!kept && waited) return { state: 'undecided' };
        if (!kept && (await this.#lease(keys))) return { state: 'leased' };
        await sleep(pollMs);
      }
      return { state: 'undecided' };
    } catch {
      return { state: 'leased' };
    }
  }

  /** Keeps what a provider decided when it was asked at `askedAt`, in milliseconds of the epoch; that it could not be asked is never kept. */
  async remember(proof: Proof, verdict: Verdict, askedAt: number): Promise<void> {
    const keys = this.#keys.of('verdict', ...proof);
    const seconds = this.#lifetime(verdict);
    const kept = { version: 1, state: 'decided', askedAt, verdict: verdictShape.encode(verdict) };
    const written = keys.map((key) =>
      seconds === 0 ? this.#redis.del(key) : this.#redis.set(key, JSON.stringify(kept), 'EX', seconds),
    );
    await Promise.all(written).catch(() => {});
  }

  /** Verdicts on a user that were asked for until now are void. @throws what Redis throws */
  async forget({ provider, subject }: ProviderUser): Promise<void> {
    const keys = this.#keys.of('forgotten', provider, subject);
    const seconds = this.#times.verifiedSeconds + clockDifferenceMs / 1000;
    await Promise.all(keys.map((key) => this.#redis.set(key, Date.now(), 'EX', seconds)));
  }

  async #read(keys: readonly string[]): Promise<Kept | 'void' | undefined> {
    const texts = await Promise.all(keys.map((key) => this.#redis.get(key)));
    const kept = texts.flatMap((text) => (text === null ? [] : [keptShape.parse(JSON.parse(text))]));
    const decided = kept.find((each) => each.state === 'decided');
    if (!decided) return kept[0];
    return (await this.#isVoid(decided)) ? 'void' : decided;
  }

  async #isVoid({ verdict, askedAt }: { verdict: Verdict; askedAt: number }): Promise<boolean> {
    if (verdict.outcome !== 'verified') return false;
    const keys = this.#keys.of('forgotten', verdict.caller.provider, verdict.caller.subject);
    const forgotten = await Promise.all(keys.map((key) => this.#redis.get(key)));
    return forgotten.some((at) => at !== null && askedAt < Number(at) + clockDifferenceMs);
  }

  // One that is not kept cannot be shared: then everybody asks.
  async #lease(keys: readonly string[]): Promise<boolean> {
    if (this.#times.verifiedSeconds === 0) return true;
    const taken: string[] = [];
    for (const key of keys) {
      const asking = JSON.stringify({ version: 1, state: 'asking' });
      if ((await this.#redis.set(key, asking, 'PX', this.#times.leaseMs, 'NX')) === null) {
        await Promise.all(taken.map((each) => this.#redis.del(each)));
        return false;
      }
      taken.push(key);
    }
    return true;
  }

  #lifetime({ outcome }: Verdict): number {
    if (outcome === 'verified') return this.#times.verifiedSeconds;
    return outcome === 'refused' ? this.#times.refusedSeconds : 0;
  }
}
