import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderUser, Verdict } from '@echodrop/contracts/verification';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { CacheKeys } from './cache-keys.ts';
import { CacheScripts, forget, lookUp, settle } from './cache-scripts.ts';
import type { Claim, Reuse } from './claims.ts';
import type { Decided, KeptVerdict, KeptVerdicts } from './kept-verdict.ts';

const pollMs = 50;
// Verifiers' clocks may differ by so much.
const clockDifferenceMs = 5000;
// Longer than providers believe a signed header.
const unansweredSeconds = 15 * 60;
// Longer than any provider should believe a timestamp.
const usedSeconds = 24 * 3600;
// Longer than any verdict that was asked for before: the longest VERDICT_TTL_SECONDS, and what a question takes.
const forgottenSeconds = 3600 + 60;

/** Whether a header that is good once was used before, by somebody who is believed; undefined where that does not matter. */
export type Use = 'first' | 'repeat' | undefined;

/**
 * `replay`: the use of a header that somebody else has used. `decided`: there is a verdict. `undecided`: another verifier asked and was
 * told none. `leased`: it is for this one to ask.
 */
export type Found =
  | { readonly state: 'replay' | 'undecided'; readonly use: Use }
  | ({ readonly state: 'decided'; readonly use: Use } & Decided)
  | Leased;

export interface Leased {
  readonly state: 'leased';
  readonly use: Use;
  readonly since: number;
  /** Whether this proof was asked about before, and nobody knows what came of it. */
  readonly unanswered: boolean;
  /** Verdicts that were found and are not believed. */
  readonly passed: readonly string[];
}

/** What becomes of a use: it verified somebody, so that nobody's late `giveBack` takes it away; or it verified nobody, and was none. */
export type UseEnd = 'confirm' | 'giveBack' | '';

interface Times {
  readonly verifiedSeconds: number;
  readonly refusedSeconds: number;
  /** How long another verifier may be asking; longer than a provider may take. */
  readonly leaseMs: number;
}

/** Verdicts, questions on their way and uses, that all verifiers share. A cache that is down or hangs costs speed: then nothing is found and nothing is kept. */
export class VerdictCache {
  readonly #redis: RedisClient;
  readonly #scripts: CacheScripts;
  readonly #keys: CacheKeys;
  readonly #kept: KeptVerdicts;
  readonly #reuse: Reuse;
  readonly #times: Times;

  constructor(redis: RedisClient, keys: CacheKeys, kept: KeptVerdicts, reuse: Reuse, times: Times) {
    this.#redis = redis;
    const kinds = [1, 3, 4];
    this.#scripts = new CacheScripts(
      redis,
      kinds.map((each) => 1 + each * keys.count),
    );
    this.#keys = keys;
    this.#kept = kept;
    this.#reuse = reuse;
    this.#times = times;
  }

  /**
   * What is known of a proof. While another verifier asks, this waits: a provider that takes a nonce once would refuse the second of
   * two questions. Who is given the lease asks, and then settles, whatever the outcome.
   */
  async find(claim: Claim): Promise<Found> {
    const end = performance.now() + this.#times.leaseMs;
    const passed: string[] = [];
    let use: Use = claim.uses.length > 0 ? 'first' : undefined;
    let waited = false;
    try {
      for (let isFirst = true; isFirst || performance.now() < end; isFirst = false) {
        const [used, state, told, more] = await this.#lookUp(claim, isFirst, !waited, passed);
        if (isFirst && used === 'repeat') use = used;
        switch (state) {
          case 'replay':
          case 'undecided':
            return { state, use };
          case 'unshared':
            return { state: 'leased', use, since: 0, unanswered: false, passed };
          case 'leased':
            return { state, use, since: Number(told), unanswered: more === 1, passed };
          case 'verdict': {
            const kept = await this.#believed(claim.shown, told, Number(more));
            if (kept) return { state: 'decided', use, verdict: kept.verdict, since: kept.since };
            passed.push(told);
            break;
          }
          default:
            waited = true;
            await sleep(pollMs);
        }
      }
      return { state: 'undecided', use };
    } catch {
      return waited ? { state: 'undecided', use } : { state: 'leased', use, since: 0, unanswered: false, passed };
    }
  }

  /**
   * Ends the lease, keeps what the provider decided, and settles the use; that a provider could not be asked is never kept.
   * `unanswered`: it may have been asked, and gave no verdict.
   */
  async settle(claim: Claim, use: UseEnd, leased: Leased, verdict: Verdict, unanswered: boolean): Promise<void> {
    if (!claim.isShared) return this.settleUse(claim, use);
    const seconds = this.#lifetime(verdict);
    const text = seconds > 0 ? this.#kept.write(claim.shown, { verdict, since: leased.since }) : '';
    const isRefusal = verdict.outcome === 'refused' ? 1 : 0;
    await this.#settle(claim, use, [1, seconds, text, isRefusal, unanswered ? 1 : 0], leased.passed);
  }

  /** Settles the use alone. */
  async settleUse(claim: Claim, use: UseEnd): Promise<void> {
    if (use !== '' && claim.uses.length > 0) await this.#settle(claim, use, [0, 0, '', 0, 0], []);
  }

  /** Verdicts on a user that were asked for until now are void. @throws what Redis throws */
  async forget(user: ProviderUser): Promise<void> {
    await this.#scripts.run(forget, [this.#keys.forgets, ...this.#marks(user)], [forgottenSeconds]);
  }

  /** Whether its user was forgotten after it was asked for. @throws what Redis throws */
  async isVoid({ verdict, since }: Decided): Promise<boolean> {
    if (verdict.outcome !== 'verified') return false;
    const counts = await this.#redis.mget([...this.#marks(verdict.caller)]);
    return counts.some((count) => Number(count) > since);
  }

  async #lookUp(
    { isShared, names, uses, users }: Claim,
    isFirst: boolean,
    mayTake: boolean,
    passed: readonly string[],
  ) {
    if (!isShared && uses.length === 0) return ['', 'unshared', '', ''] as const;
    // A verdict that is not kept cannot be shared: then everybody asks.
    const leaseMs = this.#times.verifiedSeconds === 0 ? 0 : this.#times.leaseMs;
    const [takenNow, whose] = isFirst ? [uses, users] : [[], []];
    const reply = await this.#scripts.run(
      lookUp,
      [this.#keys.forgets, ...names, ...takenNow],
      [
        this.#keys.count,
        this.#reuse,
        usedSeconds,
        isShared ? 1 : 0,
        mayTake ? 1 : 0,
        leaseMs,
        unansweredSeconds,
        ...whose,
        ...passed,
      ],
    );
    return reply as [use: string, state: string, told: string, more: string | number];
  }

  // Where it fails the next one asks.
  async #settle(
    { names, uses, users }: Claim,
    use: UseEnd,
    question: readonly (string | number)[],
    passed: readonly string[],
  ): Promise<void> {
    const keys = [this.#keys.forgets, ...names, ...uses];
    const args = [this.#keys.count, use, usedSeconds, ...question, ...users, ...passed];
    await this.#scripts.run(settle, keys, args).catch(() => {});
  }

  // While nobody at all was forgotten since a verdict was asked for, its user was not either.
  async #believed(shown: string, text: string, forgets: number): Promise<KeptVerdict | undefined> {
    const kept = this.#kept.read(shown, text);
    if (!kept || !this.#isAlive(kept)) return undefined;
    return forgets > kept.since && (await this.isVoid(kept)) ? undefined : kept;
  }

  // One that a verifier with another setting has kept, or that was long on its way into the cache, lives no longer.
  #isAlive({ verdict, at }: KeptVerdict): boolean {
    return Date.now() < at + this.#lifetime(verdict) * 1000 + clockDifferenceMs;
  }

  #marks({ provider, subject }: ProviderUser): readonly string[] {
    return this.#keys.hashes('user', [provider, subject]).map((hash) => this.#keys.name('forgotten', hash));
  }

  #lifetime({ outcome }: Verdict): number {
    if (outcome === 'verified') return this.#times.verifiedSeconds;
    return outcome === 'refused' ? this.#times.refusedSeconds : 0;
  }
}
