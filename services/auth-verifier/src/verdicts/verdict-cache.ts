import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderUser, Verdict } from '@echodrop/contracts/verification';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { CacheKeys, ProofKeys } from './cache-keys.ts';
import { CacheScripts, type Leased } from './cache-scripts.ts';
import type { CachedVerdict, Decision, VerdictCodec } from './verdict-codec.ts';

const pollMs = 50;
// VERDICT_TTL_SECONDS applies to verified verdicts only.
const refusedSeconds = 10;
// Tolerated difference of the verifiers' clocks.
const clockDifferenceMs = 5000;
// Longer than any earlier verdict lives: the longest VERDICT_TTL_SECONDS plus the time of a request.
const forgottenSeconds = 3600 + 60;

/**
 * `decided`: there is a verdict. `undecided`: another verifier's query had no outcome. `leased`: this verifier must query the provider, and
 * then call `settle`, whatever the outcome.
 */
type Found = { readonly state: 'decided'; readonly decision: Decision } | { readonly state: 'undecided' } | Leased;

const leasedWithoutCache: Leased = { state: 'leased', since: 0, isPending: false };

interface CacheOptions {
  readonly redis: RedisClient;
  readonly keys: CacheKeys;
  readonly codec: VerdictCodec;
  readonly verifiedSeconds: number;
  /** Lifetime of another verifier's lease; longer than a provider request. */
  readonly leaseMs: number;
}

/** Verdicts and leases, shared by all verifiers. If the cache is down, verifiers work without it. */
export class VerdictCache {
  readonly #options: CacheOptions;
  readonly #scripts: CacheScripts;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#scripts = new CacheScripts(options.redis);
  }

  /** Looks up a proof. Waits while another verifier holds the lease: a provider that accepts a nonce once would refuse a second query. */
  async find(proof: ProofKeys): Promise<Found> {
    const { keys, verifiedSeconds } = this.#options;
    const deadline = performance.now() + this.#options.leaseMs;
    // Verdicts that are not cached cannot be shared, so each verifier queries the provider.
    const leaseMs = verifiedSeconds === 0 ? 0 : this.#options.leaseMs;
    let hasWaited = false;
    let invalid = '';
    try {
      do {
        const options = { invalid, mayLease: !hasWaited, leaseMs };
        const found = await this.#scripts.lookUp(keys.forgets, proof, options);
        switch (found.state) {
          case 'leased':
            return found;
          case 'unleased':
            return { state: 'undecided' };
          case 'leased_elsewhere':
            hasWaited = true;
            await sleep(pollMs);
            break;
          case 'cached': {
            const decision = await this.#validDecision(proof.proofHash, found.verdict, found.since);
            if (decision) return { state: 'decided', decision };
            invalid = found.verdict;
          }
        }
      } while (performance.now() < deadline);
      return { state: 'undecided' };
    } catch {
      return hasWaited ? { state: 'undecided' } : leasedWithoutCache;
    }
  }

  /** Ends the lease and caches a verdict. `isPending`: the provider may have received the proof, and its response is unknown. */
  async settle(proof: ProofKeys, decision: Decision, isPending: boolean): Promise<void> {
    const seconds = this.#lifetime(decision.verdict);
    const verdict = seconds > 0 ? this.#options.codec.encode(proof.proofHash, decision) : '';
    const settlement = { verdict, seconds, isRefusal: decision.verdict.outcome === 'refused', isPending };
    // If this fails, the next request queries the provider.
    await this.#scripts.settle(proof, settlement).catch(() => {});
  }

  /** Voids all earlier verdicts on a user. @throws what Redis throws */
  async forget(user: ProviderUser): Promise<void> {
    const { keys } = this.#options;
    for (const mark of keys.ofForgotten(user)) await this.#scripts.forget(keys.forgets, mark, forgottenSeconds);
  }

  /** Whether the user was forgotten after the query began. @throws what Redis throws */
  async isVoid({ verdict, since }: Decision): Promise<boolean> {
    if (verdict.outcome !== 'verified') return false;
    const { redis, keys } = this.#options;
    const counts = await redis.mget([...keys.ofForgotten(verdict.caller)]);
    return counts.some((count) => Number(count) > since);
  }

  // The count shows quickly that no user was forgotten since the query.
  async #validDecision(proofHash: string, text: string, forgets: number): Promise<Decision | undefined> {
    const cached = this.#options.codec.decode(proofHash, text);
    if (!cached || !this.#isAlive(cached)) return undefined;
    return forgets > cached.since && (await this.isVoid(cached)) ? undefined : cached;
  }

  // Limits verdicts from verifiers with other settings, and those that took long to reach the cache.
  #isAlive({ verdict, at }: CachedVerdict): boolean {
    return Date.now() < at + this.#lifetime(verdict) * 1000 + clockDifferenceMs;
  }

  #lifetime({ outcome }: Verdict): number {
    if (outcome === 'verified') return this.#options.verifiedSeconds;
    return outcome === 'refused' ? refusedSeconds : 0;
  }
}
