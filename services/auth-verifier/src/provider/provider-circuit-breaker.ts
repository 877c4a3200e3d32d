import type { Provider } from '@echodrop/identity-provider/provider';
import { ResponseTooLarge } from '@echodrop/identity-provider/provider-connections';
import { ConcurrencyLimit } from '@echodrop/service/concurrency-limit';
import {
  type BulkheadPolicy,
  bulkhead,
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  type IHalfOpenAfterBackoffContext,
  isBulkheadRejectedError,
} from 'cockatiel';
import type { NotQueried, VerifierEvents } from '../events.ts';

export type ProviderEvents = Pick<VerifierEvents, 'providerFailed' | 'circuitOpened' | 'circuitClosed'>;

/** `retryMs`: the time until a retry. */
interface Rejected {
  readonly cause: NotQueried;
  readonly retryMs: number;
}

const maxConcurrent = 256;
const maxConcurrentUnverified = maxConcurrent / 4;
const busyRetryMs = 1000;
const failuresToOpen = 10;
const openMs = 10_000;
// Upper limit for Retry-After.
const maxOpenMs = 5 * 60_000;

/** The provider responded, but without a verdict. Does not count as a failure: a hostile request could otherwise open the circuit. */
export class InvalidResponse extends Error {}

/** Status 429, for one user or for all requests. `isUnknownToken`: the token was not verified recently and may be made up. */
export class TooManyRequests extends Error {
  readonly retryMs: number;
  readonly isUnknownToken: boolean;

  constructor(retryMs: number, isUnknownToken: boolean) {
    super(`provider responded with 429, retry after ${Math.ceil(retryMs / 1000)} s`);
    this.retryMs = retryMs;
    this.isUnknownToken = isUnknownToken;
  }
}

/**
 * A circuit breaker with a bulkhead: limits concurrent requests to a provider. After failures for ten senders without a success, opens the
 * circuit for ten seconds or the time of Retry-After (docs/decisions/009). Reaching a concurrency limit is not a failure.
 */
export class ProviderCircuitBreaker {
  readonly #breaker: CircuitBreakerPolicy;
  readonly #bulkhead: BulkheadPolicy = bulkhead(maxConcurrent);
  readonly #provider: Provider;
  readonly #events: ProviderEvents;
  /** Senders whose requests failed since the last success. */
  readonly #failedFor = new Set<string>();
  /** Senders whose trial failed. Their next trial waits ten seconds longer, so that no sender alone keeps the circuit open. */
  readonly #failedTrials = new Set<string>();
  /** Requests in flight of each unverified sender. */
  readonly #unverified = new ConcurrencyLimit(maxConcurrentUnverified);
  /** By the clock of `performance.now`, which no change of the system's time moves. */
  #openUntil = 0;

  constructor(provider: Provider, events: ProviderEvents) {
    this.#provider = provider;
    this.#events = events;
    this.#breaker = circuitBreaker(handleWhen(isProviderFailure), {
      breaker: {
        state: undefined,
        success: () => this.#failedFor.clear(),
        failure: () => this.#failedFor.size >= failuresToOpen,
      },
      halfOpenAfter: new DelegateBackoff((context: IHalfOpenAfterBackoffContext) => this.#open(context)),
    });
    this.#breaker.onReset(() => {
      this.#failedTrials.clear();
      events.circuitClosed(provider);
    });
  }

  /** Runs `request`, unless the circuit is open or too many run. @throws what `request` throws */
  async execute<T>(sender: string, isVerified: boolean, request: () => Promise<T>): Promise<T | Rejected> {
    // Others do not wait for the running trial.
    if (this.#breaker.state === CircuitState.HalfOpen) return { cause: 'circuit_open', retryMs: busyRetryMs };
    const retryMs = this.#openUntil - performance.now() + (this.#failedTrials.has(sender) ? openMs : 0);
    if (this.#breaker.state === CircuitState.Open && retryMs > 0) return { cause: 'circuit_open', retryMs };
    using held = new DisposableStack();
    if (!isVerified && !this.#unverified.acquire(sender, held)) return { cause: 'busy', retryMs: busyRetryMs };
    try {
      return await this.#bulkhead.execute(() => this.#breaker.execute(() => this.#count(sender, request)));
    } catch (error) {
      if (isBulkheadRejectedError(error)) return { cause: 'busy', retryMs: busyRetryMs };
      throw error;
    }
  }

  /** Open, or half open during a trial. */
  get isOpen(): boolean {
    return performance.now() < this.#openUntil || this.#breaker.state === CircuitState.HalfOpen;
  }

  async #count<T>(sender: string, request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (isProviderFailure(error)) {
        this.#failedFor.add(sender);
        if (this.#breaker.state === CircuitState.HalfOpen) this.#failedTrials.add(sender);
      }
      throw error;
    }
  }

  #open({ result }: IHalfOpenAfterBackoffContext): number {
    const error = 'error' in result ? result.error : undefined;
    const wanted = error instanceof TooManyRequests ? error.retryMs : openMs;
    const ms = Math.min(Math.max(wanted, openMs), maxOpenMs);
    this.#openUntil = performance.now() + ms;
    this.#events.circuitOpened(this.#provider, ms);
    // cockatiel compares times of the system clock, so it must not wait: after a step back by an hour, it would wait for an hour.
    return Number.NEGATIVE_INFINITY;
  }
}

function isProviderFailure(error: unknown): boolean {
  if (error instanceof TooManyRequests) return !error.isUnknownToken;
  return !(error instanceof InvalidResponse || error instanceof ResponseTooLarge);
}
