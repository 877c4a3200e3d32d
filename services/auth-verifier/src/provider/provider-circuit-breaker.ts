import type { Provider } from '@echodrop/identity-provider/provider';
import { ResponseTooLarge } from '@echodrop/identity-provider/provider-connections';
import { FairSlots } from '@echodrop/service/fair-slots';
import {
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  type IHalfOpenAfterBackoffContext,
} from 'cockatiel';
import type { NotQueried, VerifierEvents } from '../events.ts';

export type ProviderEvents = Pick<VerifierEvents, 'providerFailed' | 'circuitOpened' | 'circuitClosed'>;

/** Why a request was not sent. */
export interface Rejected {
  readonly cause: NotQueried;
  /** The time until a retry. */
  readonly retryMs: number;
  /** Whether other requests of the same sender took its share. */
  readonly isOwnShare?: boolean;
}

const maxConcurrent = 256;
const maxConcurrentUnverified = maxConcurrent / 4;
// More than a gateway has slots for one address.
const maxWaitingOfOne = 1024;
const maxWaiting = 4 * maxWaitingOfOne;
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
 * A circuit breaker with slots: limits concurrent requests to a provider; others wait for their turn. After failures for ten senders without a
 * success, opens the circuit for ten seconds or the time of Retry-After (docs/decisions/identity-providers.md). A request without a slot is not a failure.
 */
export class ProviderCircuitBreaker {
  readonly #breaker: CircuitBreakerPolicy;
  readonly #slots = new FairSlots({ slots: maxConcurrent, maxWaiting, maxWaitingOfOne });
  readonly #waitMs: number;
  readonly #provider: Provider;
  readonly #events: ProviderEvents;
  /** Senders whose requests failed since the last success. */
  readonly #failedFor = new Set<string>();
  /** Senders whose trial failed. Their next trial waits ten seconds longer, so that no sender alone keeps the circuit open. */
  readonly #failedTrials = new Set<string>();
  /** By the clock of `performance.now`, which no change of the system's time moves. */
  #openUntil = 0;

  /** `waitMs`: the longest wait for a slot. */
  constructor(provider: Provider, waitMs: number, events: ProviderEvents) {
    this.#provider = provider;
    this.#waitMs = waitMs;
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

  /** Runs `request` in a slot, unless the circuit is open or no slot is free in time. @throws what `request` throws */
  async execute<T>(sender: string, isVerified: boolean, request: () => Promise<T>): Promise<T | Rejected> {
    const limit = isVerified ? maxConcurrent : maxConcurrentUnverified;
    using held = new DisposableStack();
    const open = this.#rejection(sender);
    if (open) return open;
    if (!(await this.#slots.acquire(sender, limit, this.#waitMs, held)))
      return { cause: 'busy', retryMs: busyRetryMs, isOwnShare: this.#slots.holds(sender) };
    // The circuit may have opened meanwhile.
    return this.#rejection(sender) ?? (await this.#breaker.execute(() => this.#count(sender, request)));
  }

  #rejection(sender: string): Rejected | undefined {
    // Others do not wait for the running trial.
    if (this.#breaker.state === CircuitState.HalfOpen) return { cause: 'circuit_open', retryMs: busyRetryMs };
    const retryMs = this.#openUntil - performance.now() + (this.#failedTrials.has(sender) ? openMs : 0);
    return this.#breaker.state === CircuitState.Open && retryMs > 0 ? { cause: 'circuit_open', retryMs } : undefined;
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
