import { setTimeout as sleep } from 'node:timers/promises';
import { type ProviderUser, type Verdict, verdictShape } from '@echodrop/contracts/verification';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { CacheKeys } from './cache-keys.ts';
import type { Proof } from './proof.ts';

const pollMs = 50;
// Verifiers' clocks may differ by so much.
const clockDifferenceMs = 5000;
// Longer than providers believe a signed header.
const unansweredSeconds = 15 * 60;
// Longer than any verdict that was asked for before: the longest VERDICT_TTL_SECONDS, and what a question takes.
const forgottenSeconds = 3600 + 60;

const keptShape = z.object({ since: z.number(), at: z.number(), verdict: verdictShape });

/** A verdict, and how many users had been forgotten when it was asked for. */
export interface Decided {
  readonly verdict: Verdict;
  readonly since: number;
}

/**
 * `decided`: there is a verdict. `undecided`: another verifier asked and was told none. `leased`: it is for this one to ask;
 * `unanswered` says that this proof was asked about before, and nobody knows what came of it.
 */
export type Found =
  | ({ readonly state: 'decided' } & Decided)
  | { readonly state: 'undecided' }
  | { readonly state: 'leased'; readonly since: number; readonly unanswered: boolean };

interface Times {
  readonly verifiedSeconds: number;
  readonly refusedSeconds: number;
  /** How long another verifier may be asking; longer than a provider may take. */
  readonly leaseMs: number;
}

type Cache = Pick<Redis, 'get' | 'set' | 'del' | 'incr'>;

/** Verdicts, and questions on their way, that all verifiers share. A cache that is down or hangs costs speed: then nothing is found and nothing is kept. */
export class VerdictCache {
  readonly #redis: Cache;
  readonly #keys: CacheKeys;
  readonly #times: Times;

  constructor(redis: Cache, keys: CacheKeys, times: Times) {
    this.#redis = redis;
    this.#keys = keys;
    this.#times = times;
  }

  /**
   * What is known of a proof. While another verifier asks, this waits: a provider that takes a nonce once would refuse the second of
   * two questions. Who is given the lease asks, and then has the outcome remembered, whichever it is.
   */
  async find(proof: Proof): Promise<Found> {
    const end = performance.now() + this.#times.leaseMs;
    let waited = false;
    try {
      for (; performance.now() < end; waited = true) {
        const decided = await this.#decided(proof);
        if (decided) return decided;
        const isAsked = (await this.#texts('question', proof)).length > 0;
        // A verdict is written before its lease ends: who saw neither looked for the one too early and for the other too late.
        if (!isAsked && waited) return (await this.#decided(proof)) ?? { state: 'undecided' };
        if (!isAsked && (await this.#lease(proof))) return await this.#leased(proof);
        await sleep(pollMs);
      }
      return { state: 'undecided' };
    } catch {
      return waited ? { state: 'undecided' } : { state: 'leased', since: 0, unanswered: false };
    }
  }

  /**
   * Ends the lease, and keeps what the provider decided; that it could not be asked is never kept. `unanswered`: it may have been
   * asked, and gave no verdict.
   */
  async remember(proof: Proof, { verdict, since }: Decided, unanswered: boolean): Promise<void> {
    try {
      const seconds = this.#lifetime(verdict);
      // A proof that was good and is refused was asked about twice after all.
      const isLate = verdict.outcome === 'refused' && (await this.#decided(proof)) !== undefined;
      if (seconds > 0 && !isLate) {
        const kept = { since, at: Date.now(), verdict: verdictShape.encode(verdict) };
        await this.#each('verdict', proof, (key) => this.#redis.set(key, JSON.stringify(kept), 'EX', seconds));
      }
      if (!unanswered) await this.#each('unanswered', proof, (key) => this.#redis.del(key));
      await this.#each('question', proof, (key) => this.#redis.del(key));
    } catch {
      // Then the next one asks.
    }
  }

  /** Verdicts on a user that were asked for until now are void. @throws what Redis throws */
  async forget({ provider, subject }: ProviderUser): Promise<void> {
    await this.#forgets();
    const count = await this.#redis.incr(this.#keys.forgets);
    await this.#each('forgotten', [provider, subject], (key) => this.#redis.set(key, count, 'EX', forgottenSeconds));
  }

  /** Whether its user was forgotten after it was asked for. @throws what Redis throws */
  async isVoid({ verdict, since }: Decided): Promise<boolean> {
    if (verdict.outcome !== 'verified') return false;
    const counts = await this.#texts('forgotten', [verdict.caller.provider, verdict.caller.subject]);
    return counts.some((count) => Number(count) > since);
  }

  async #decided(proof: Proof): Promise<Extract<Found, { state: 'decided' }> | undefined> {
    for (const text of await this.#texts('verdict', proof)) {
      const kept = readKept(text);
      if (kept && this.#isAlive(kept) && !(await this.isVoid(kept))) return { state: 'decided', ...kept };
    }
    return undefined;
  }

  // One that a verifier with another setting has kept, or that was long on its way into the cache, lives no longer.
  #isAlive({ verdict, at }: z.output<typeof keptShape>): boolean {
    return Date.now() < at + this.#lifetime(verdict) * 1000 + clockDifferenceMs;
  }

  // A verdict that is not kept cannot be shared: then everybody asks.
  async #lease(proof: Proof): Promise<boolean> {
    if (this.#times.verifiedSeconds === 0) return true;
    const taken: string[] = [];
    for (const key of this.#keys.of('question', ...proof)) {
      if ((await this.#redis.set(key, 'asking', 'PX', this.#times.leaseMs, 'NX')) === null) {
        await Promise.all(taken.map((each) => this.#redis.del(each)));
        return false;
      }
      taken.push(key);
    }
    return true;
  }

  async #leased(proof: Proof): Promise<Found> {
    const decided = await this.#decided(proof);
    if (decided) {
      await this.#each('question', proof, (key) => this.#redis.del(key));
      return decided;
    }
    const set = await this.#each('unanswered', proof, (key) =>
      this.#redis.set(key, 'asked', 'EX', unansweredSeconds, 'NX'),
    );
    const since = await this.#forgets();
    return { state: 'leased', since, unanswered: set.includes(null) };
  }

  // Begun anew where it was evicted, by the clock, it is ahead of every count before.
  async #forgets(): Promise<number> {
    await this.#redis.set(this.#keys.forgets, Date.now(), 'NX');
    return Number(await this.#redis.get(this.#keys.forgets));
  }

  async #texts(kind: Parameters<CacheKeys['of']>[0], parts: readonly string[]): Promise<string[]> {
    return (await this.#each(kind, parts, (key) => this.#redis.get(key))).filter((text) => text !== null);
  }

  #each<T>(kind: Parameters<CacheKeys['of']>[0], parts: readonly string[], ask: (key: string) => Promise<T>) {
    return Promise.all(this.#keys.of(kind, ...parts).map(ask));
  }

  #lifetime({ outcome }: Verdict): number {
    if (outcome === 'verified') return this.#times.verifiedSeconds;
    return outcome === 'refused' ? this.#times.refusedSeconds : 0;
  }
}

// What cannot be read is as good as nothing.
function readKept(text: string): z.output<typeof keptShape> | undefined {
  try {
    return keptShape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
