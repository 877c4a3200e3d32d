import { createHash } from 'node:crypto';
import type { Verdict } from '@echodrop/contracts/verification';
import { callerIn } from '@echodrop/identity-provider/caller-in-answer';
import type { Provider } from '@echodrop/identity-provider/provider';
import { ProviderConnections } from '@echodrop/identity-provider/provider-connections';
import type { Secret } from '@echodrop/service/secret';
import { LRUCache } from 'lru-cache';
import { ProviderBreaker } from './provider-breaker.ts';
import { NoVerdict, TooManyQuestions } from './provider-failures.ts';
import { retryAfterMs } from './retry-after.ts';

const restMs = 10_000;
const longestRestMs = 60 * 60_000;
const restingTokens = 100_000;

interface Asking {
  /** For the whole exchange. */
  readonly timeoutMs: number;
  readonly userIdSecret: Secret;
  /** Told why a provider could not say. */
  readonly failed: (provider: Provider, error: unknown) => void;
}

/** That a provider could not say, and when it may be worth asking again. */
export function unavailable(afterMs = restMs): Verdict {
  return { outcome: 'provider_unavailable', retryAfterSeconds: Math.max(1, Math.ceil(afterMs / 1000)) };
}

/** Asks providers, and leaves alone those that fail: all of one whose breaker is open, or one token that was asked about too often. */
export class IdentityProviders implements AsyncDisposable {
  readonly #asking: Asking;
  readonly #connections: ProviderConnections;
  readonly #breakers = new Map<Provider, ProviderBreaker>();
  readonly #resting = new LRUCache<string, true>({ max: restingTokens, perf: Date, ttlResolution: 0 });

  constructor(asking: Asking) {
    this.#asking = asking;
    this.#connections = new ProviderConnections(asking.timeoutMs);
  }

  /**
   * Asks `provider` once. 200 with id and name is `verified`, 401 and 403 are `refused`, all else is `provider_unavailable`
   * (docs/identity-providers.md has the table).
   */
  async ask(provider: Provider, authorization: string): Promise<Verdict> {
    const token = tokenOf(provider, authorization);
    const resting = this.#resting.getRemainingTTL(token);
    if (resting > 0) return unavailable(resting);
    try {
      const answer = await this.#breaker(provider).execute(() => this.#exchange(provider, authorization));
      return 'openMs' in answer ? unavailable(answer.openMs) : answer;
    } catch (error) {
      this.#asking.failed(provider, error);
      if (!(error instanceof TooManyQuestions)) return unavailable();
      this.#resting.set(token, true, { ttl: error.restMs });
      return unavailable(error.restMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  async #exchange(provider: Provider, authorization: string): Promise<Verdict> {
    const { status, headers, body } = await this.#connections.ask(provider, authorization);
    if (status === 401 || status === 403) return { outcome: 'refused' };
    if (status === 429) {
      const ms = retryAfterMs(headers['retry-after']) ?? restMs;
      throw new TooManyQuestions(Math.min(Math.max(ms, 1000), longestRestMs));
    }
    if (status >= 500) throw new Error(`provider answered ${status}`);
    if (status !== 200) throw new NoVerdict(`provider answered ${status}`);
    const caller = callerIn(body, provider, this.#asking.userIdSecret);
    if (!caller) throw new NoVerdict('provider answered without id and name');
    return { outcome: 'verified', caller };
  }

  #breaker(provider: Provider): ProviderBreaker {
    const known = this.#breakers.get(provider) ?? new ProviderBreaker();
    this.#breakers.set(provider, known);
    return known;
  }
}

// A 429 is often about one user: were it to silence the provider, one user could shut out all others. Nonces differ, the token does not.
function tokenOf({ advertised }: Provider, authorization: string): string {
  const token = /[\s,]oauth_token\s*=\s*"([^"]*)"/i.exec(authorization)?.[1] ?? authorization;
  return createHash('sha256')
    .update(JSON.stringify([advertised, token]))
    .digest('base64');
}
