import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderUser, Verdict, VerificationRequest } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { RedisClient } from '@echodrop/service/redis/redis-client';
import type { CacheKeys } from './cache-keys.ts';
import { defineScripts, forget, lookUp, runScript, settle } from './cache-scripts.ts';
import { deriveProofKeys, type ProofKeys, type Reuse } from './proof-keys.ts';
import type { CachedVerdict, Decision, VerdictCodec } from './verdict-codec.ts';

const pollMs = 50;
// Tolerated difference of the verifiers' clocks.
const clockDifferenceMs = 5000;
// Longer than providers accept a signed header.
const pendingSeconds = 15 * 60;
// Longer than any provider should accept a timestamp.
const usedSeconds = 24 * 3600;
// Longer than any earlier verdict lives: the longest VERDICT_TTL_SECONDS plus the time of a request.
const forgottenSeconds = 3600 + 60;

/** `repeat`: the same client used the signed header before. Undefined if uses are not limited. */
export type Use = 'first' | 'repeat' | undefined;

/**
 * `replay`: another client has used the header. `decided`: there is a verdict. `undecided`: another verifier's request had no outcome.
 * `leased`: this verifier must query the provider.
 */
type Found =
  | { readonly state: 'replay' | 'undecided'; readonly use: Use }
  | ({ readonly state: 'decided'; readonly use: Use } & Decision)
  | Leased;

interface Leased {
  readonly state: 'leased';
  readonly use: Use;
  readonly since: number;
  /** Whether an earlier request with this proof had no outcome. */
  readonly isPending: boolean;
  /** Cached verdicts that are not valid. */
  readonly passed: readonly string[];
}

/** `confirm`: the use verified a user, and a late `giveBack` cannot remove it. `giveBack`: it verified no user and does not count. */
export type UseEnd = 'confirm' | 'giveBack' | '';

interface CacheOptions {
  readonly redis: RedisClient;
  readonly keys: CacheKeys;
  readonly codec: VerdictCodec;
  readonly reuse: Reuse;
  readonly verifiedSeconds: number;
  readonly refusedSeconds: number;
  /** Lifetime of another verifier's lease; longer than a provider request. */
  readonly leaseMs: number;
}

/** Verdicts, leases and uses, shared by all verifiers. If the cache is down, verifiers work without it. */
export class VerdictCache {
  readonly #options: CacheOptions;

  constructor(options: CacheOptions) {
    this.#options = options;
    defineScripts(options.redis);
  }

  /** The keys of a proof; undefined for a header that may be a replay. */
  keysOf(request: VerificationRequest, provider: Provider): ProofKeys | undefined {
    return deriveProofKeys(this.#options.keys, this.#options.reuse, request, provider);
  }

  /**
   * Looks up a proof. Waits while another verifier holds the lease: a provider that accepts a nonce once would refuse a second
   * request. The holder of the lease queries the provider and then calls `settle`, whatever the outcome.
   */
  async find(proofKeys: ProofKeys): Promise<Found> {
    const end = performance.now() + this.#options.leaseMs;
    const passed: string[] = [];
    let use: Use = proofKeys.uses.length > 0 ? 'first' : undefined;
    let hasWaited = false;
    try {
      for (let isFirst = true; isFirst || performance.now() < end; isFirst = false) {
        const [used, state, value, extra] = await this.#lookUp(proofKeys, isFirst, !hasWaited, passed);
        if (isFirst && used === 'repeat') use = used;
        switch (state) {
          case 'replay':
          case 'undecided':
            return { state, use };
          case 'unshared':
            return { state: 'leased', use, since: 0, isPending: false, passed };
          case 'leased':
            return { state, use, since: Number(value), isPending: extra === 1, passed };
          case 'verdict': {
            const kept = await this.#validVerdict(proofKeys.shown, value, Number(extra));
            if (kept) return { state: 'decided', use, verdict: kept.verdict, since: kept.since };
            passed.push(value);
            break;
          }
          default:
            hasWaited = true;
            await sleep(pollMs);
        }
      }
      return { state: 'undecided', use };
    } catch {
      return hasWaited ? { state: 'undecided', use } : { state: 'leased', use, since: 0, isPending: false, passed };
    }
  }

  /** Ends the lease, caches a verdict and settles the use. `isPending`: the provider may have received the proof. */
  async settle(proofKeys: ProofKeys, use: UseEnd, leased: Leased, verdict: Verdict, isPending: boolean): Promise<void> {
    if (!proofKeys.isShared) return this.settleUse(proofKeys, use);
    const seconds = this.#lifetime(verdict);
    const text = seconds > 0 ? this.#options.codec.encode(proofKeys.shown, { verdict, since: leased.since }) : '';
    const isRefusal = verdict.outcome === 'refused' ? 1 : 0;
    await this.#settle(proofKeys, use, [1, seconds, text, isRefusal, isPending ? 1 : 0], leased.passed);
  }

  async settleUse(proofKeys: ProofKeys, use: UseEnd): Promise<void> {
    if (use !== '' && proofKeys.uses.length > 0) await this.#settle(proofKeys, use, [0, 0, '', 0, 0], []);
  }

  /** Voids all earlier verdicts on a user. @throws what Redis throws */
  async forget(user: ProviderUser): Promise<void> {
    const { redis, keys } = this.#options;
    await runScript(redis, forget, [keys.forgets, ...this.#marks(user)], [forgottenSeconds]);
  }

  /** Whether the user was forgotten after the request. @throws what Redis throws */
  async isVoid({ verdict, since }: Decision): Promise<boolean> {
    if (verdict.outcome !== 'verified') return false;
    const counts = await this.#options.redis.mget([...this.#marks(verdict.caller)]);
    return counts.some((count) => Number(count) > since);
  }

  async #lookUp(proofKeys: ProofKeys, isFirst: boolean, canTake: boolean, passed: readonly string[]) {
    const { isShared, names, uses, users } = proofKeys;
    if (!isShared && uses.length === 0) return ['', 'unshared', '', ''] as const;
    const { redis, keys, reuse, verifiedSeconds } = this.#options;
    // Verdicts that are not cached cannot be shared, so each verifier queries the provider.
    const leaseMs = verifiedSeconds === 0 ? 0 : this.#options.leaseMs;
    const [usesNow, usersNow] = isFirst ? [uses, users] : [[], []];
    const options = [reuse, usedSeconds, Number(isShared), Number(canTake), leaseMs, pendingSeconds];
    const args = [keys.count, ...options, ...usersNow, ...passed];
    const reply = await runScript(redis, lookUp, [keys.forgets, ...names, ...usesNow], args);
    return reply as [use: string, state: string, value: string, extra: string | number];
  }

  // If this fails, the next request queries the provider.
  async #settle(
    { names, uses, users }: ProofKeys,
    use: UseEnd,
    request: readonly (string | number)[],
    passed: readonly string[],
  ): Promise<void> {
    const { redis, keys } = this.#options;
    const args = [keys.count, use, usedSeconds, ...request, ...users, ...passed];
    await runScript(redis, settle, [keys.forgets, ...names, ...uses], args).catch(() => {});
  }

  // The count shows quickly that no user was forgotten since the request.
  async #validVerdict(shown: string, text: string, forgets: number): Promise<CachedVerdict | undefined> {
    const kept = this.#options.codec.decode(shown, text);
    if (!kept || !this.#isAlive(kept)) return undefined;
    return forgets > kept.since && (await this.isVoid(kept)) ? undefined : kept;
  }

  // Limits verdicts from verifiers with other settings, and those that took long to reach the cache.
  #isAlive({ verdict, at }: CachedVerdict): boolean {
    return Date.now() < at + this.#lifetime(verdict) * 1000 + clockDifferenceMs;
  }

  #marks({ provider, subject }: ProviderUser): readonly string[] {
    const { keys } = this.#options;
    return keys.hashes('user', [provider, subject]).map((hash) => keys.name('forgotten', hash));
  }

  #lifetime({ outcome }: Verdict): number {
    if (outcome === 'verified') return this.#options.verifiedSeconds;
    return outcome === 'refused' ? this.#options.refusedSeconds : 0;
  }
}
