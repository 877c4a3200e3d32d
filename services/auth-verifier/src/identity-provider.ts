import type { Verdict } from '@echodrop/contracts/verification';
import { callerIn } from '@echodrop/identity-provider/caller-in-answer';
import type { Provider } from '@echodrop/identity-provider/provider';
import { ProviderConnections } from '@echodrop/identity-provider/provider-connections';
import type { Secret } from '@echodrop/service/secret';
import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
} from 'cockatiel';

const failuresThatOpen = 10;
const openMs = 10_000;

interface Asking {
  /** For the whole exchange. */
  readonly timeoutMs: number;
  readonly userIdSecret: Secret;
  /** Told why a provider could not say, and when its breaker opens. */
  readonly failed: (provider: Provider, error: unknown) => void;
}

/** What the provider said is no verdict. It is there all the same: were this to open its breaker, a hostile request could shut out everybody. */
class NoVerdict extends Error {}

/** The one place that speaks to the outside. A provider that keeps failing is left alone for ten seconds at a time. */
export class IdentityProviders implements AsyncDisposable {
  readonly #asking: Asking;
  readonly #connections: ProviderConnections;
  readonly #breakers = new Map<Provider, CircuitBreakerPolicy>();

  constructor(asking: Asking) {
    this.#asking = asking;
    this.#connections = new ProviderConnections(asking.timeoutMs);
  }

  /**
   * Asks `provider` once, whatever happens (a nonce is good for one question). 200 with id and name is `verified`, 401 and
   * 403 are `refused`, all else is `provider_unavailable`; no redirect is followed.
   */
  async ask(provider: Provider, authorization: string): Promise<Verdict> {
    try {
      return await this.#breaker(provider).execute(() => this.#exchange(provider, authorization));
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) this.#asking.failed(provider, error);
      return { outcome: 'provider_unavailable', retryAfterSeconds: openMs / 1000 };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]();
  }

  async #exchange(provider: Provider, authorization: string): Promise<Verdict> {
    const { status, body } = await this.#connections.ask(provider, authorization);
    if (status === 401 || status === 403) return { outcome: 'refused' };
    if (status === 429 || status >= 500) throw new Error(`provider answered ${status}`);
    if (status !== 200) throw new NoVerdict(`provider answered ${status}`);
    const caller = callerIn(body, provider, this.#asking.userIdSecret);
    if (!caller) throw new NoVerdict('provider answered without id and name');
    return { outcome: 'verified', caller };
  }

  #breaker(provider: Provider): CircuitBreakerPolicy {
    const known = this.#breakers.get(provider);
    if (known) return known;
    const breaker = circuitBreaker(
      handleWhen((error) => !(error instanceof NoVerdict)),
      { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(failuresThatOpen) },
    );
    this.#breakers.set(provider, breaker);
    return breaker;
  }
}
