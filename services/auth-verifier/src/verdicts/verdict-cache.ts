import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderUser, Verdict } from '@echodrop/contracts/verification';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { CacheKeys, EntryKeys, ProofKeys } from './cache-keys.ts';
import { CacheScripts } from './cache-scripts.ts';
import type { CachedVerdict, Decision, VerdictCodec } from './verdict-codec.ts';

const pollMs = 50;
// Tolerated difference of the verifiers' clocks.
const clockDifferenceMs = 5000;
// Longer than providers accept a signed header.
const pendingSeconds = 15 * 60;
// Longer than any earlier verdict lives: the longest VERDICT_TTL_SECONDS plus the time of a request.
const forgottenSeconds = 3600 + 60;

interface Leased {
  readonly state: 'leased';
  /** The count of forgotten users before the query. */
  readonly since: number;
  /** Whether an earlier query with this proof had no outcome. */
  readonly isPending: boolean;
}

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
  readonly refusedSeconds: number;
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

  /**
   * Looks up a proof, under each secret. During a rotation of secrets, verifiers thus share entries with those that have only one of
   * them. All verifiers take leases in the same order, so that none waits for another that waits for it.
   */
  async find({ proofHash, entries }: ProofKeys): Promise<Found> {
    const deadline = performance.now() + this.#options.leaseMs;
    const leases: { readonly entry: EntryKeys; readonly leased: Leased }[] = [];
    for (const entry of entries) {
      const found = await this.#findUnder(entry, proofHash, deadline);
      if (found.state !== 'leased') {
        const none = { verdict: '', seconds: 0, isRefusal: false };
        await Promise.all(
          leases.map((each) => this.#settle(each.entry, { ...none, isPending: each.leased.isPending })),
        );
        return found;
      }
      leases.push({ entry, leased: found });
    }
    const all = leases.map(({ leased }) => leased);
    return {
      state: 'leased',
      since: Math.min(...all.map(({ since }) => since)),
      isPending: all.some(({ isPending }) => isPending),
    };
  }

  /** Ends the lease and caches a verdict. `isPending`: the provider may have received the proof, and its response is unknown. */
  async settle({ proofHash, entries }: ProofKeys, decision: Decision, isPending: boolean): Promise<void> {
    const seconds = this.#lifetime(decision.verdict);
    const verdict = seconds > 0 ? this.#options.codec.encode(proofHash, decision) : '';
    const settlement = { verdict, seconds, isRefusal: decision.verdict.outcome === 'refused', isPending };
    await Promise.all(entries.map((entry) => this.#settle(entry, settlement)));
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

  /** Waits while another verifier holds the lease: a provider that accepts a nonce once would refuse a second query. */
  async #findUnder(entry: EntryKeys, proofHash: string, deadline: number): Promise<Found> {
    const { keys, verifiedSeconds } = this.#options;
    // Verdicts that are not cached cannot be shared, so each verifier queries the provider.
    const leaseMs = verifiedSeconds === 0 ? 0 : this.#options.leaseMs;
    let hasWaited = false;
    let invalid = '';
    try {
      do {
        const options = { invalid, mayLease: !hasWaited, leaseMs, pendingSeconds };
        const found = await this.#scripts.lookUp(keys.forgets, entry, options);
        switch (found.state) {
          case 'leased':
            return { state: 'leased', since: Number(found.forgets), isPending: found.wasPending };
          case 'unleased':
            return { state: 'undecided' };
          case 'leased_elsewhere':
            hasWaited = true;
            await sleep(pollMs);
            break;
          case 'cached': {
            const decision = await this.#validDecision(proofHash, found.verdict, Number(found.forgets));
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

  // If this fails, the next request queries the provider.
  async #settle(...settlement: Parameters<CacheScripts['settle']>): Promise<void> {
    await this.#scripts.settle(...settlement).catch(() => {});
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
    return outcome === 'refused' ? this.#options.refusedSeconds : 0;
  }
}
