import type { Provider } from '@echodrop/identity-provider/provider';
import { ResponseTooLarge } from '@echodrop/identity-provider/provider-connections';
import { FairSlotQueue } from '@echodrop/service/fair-slot-queue';
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
// A gateway has fewer slots for one address.
const maxWaitingOfOne = 1024;
const maxWaiting = 4 * maxWaitingOfOne;
const busyRetryMs = 1000;
const failuresToOpen = 10;
const openMs = 10_000;
// A longer Retry-After counts as this time.
const maxOpenMs = 5 * 60_000;

/** The provider responded, but without a verdict. Such a response is no failure: a hostile request could otherwise open the circuit. */
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
  readonly #slots = new FairSlotQueue({ slots: maxConcurrent, maxWaiting, maxWaitingOfOne });
  readonly #waitMs: number;
  readonly #provider: Provider;
  readonly #events: ProviderEvents;
  /** `trial`: the circuit was open, and one request tests whether the provider works again. */
  #state: 'closed' | 'open' | 'trial' = 'closed';
  /** A time of `performance.now`, which no change of the system's clock moves. */
  #openUntil = 0;
  /** Senders whose requests failed since the last success. */
  readonly #failedFor = new Set<string>();
  /** Senders whose trial failed. Their next trial waits ten seconds longer, so that no sender alone keeps the circuit open. */
  readonly #failedTrials = new Set<string>();

  /** `waitMs`: the longest wait for a slot. */
  constructor(provider: Provider, waitMs: number, events: ProviderEvents) {
    this.#provider = provider;
    this.#waitMs = waitMs;
    this.#events = events;
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
    return this.#rejection(sender) ?? (await this.#run(sender, request));
  }

  /** Whether the circuit is open, or a trial runs. */
  get isOpen(): boolean {
    return performance.now() < this.#openUntil || this.#state === 'trial';
  }

  #rejection(sender: string): Rejected | undefined {
    // Other requests do not wait for the running trial.
    if (this.#state === 'trial') return { cause: 'circuit_open', retryMs: busyRetryMs };
    const retryMs = this.#openUntil - performance.now() + (this.#failedTrials.has(sender) ? openMs : 0);
    return this.#state === 'open' && retryMs > 0 ? { cause: 'circuit_open', retryMs } : undefined;
  }

  async #run<T>(sender: string, request: () => Promise<T>): Promise<T> {
    const isTrial = this.#state === 'open';
    if (isTrial) this.#state = 'trial';
    try {
      const response = await request();
      this.#failedFor.clear();
      if (isTrial) this.#close();
      return response;
    } catch (error) {
      if (isProviderFailure(error)) this.#countFailure(sender, error, isTrial);
      else if (isTrial) this.#close();
      throw error;
    }
  }

  #countFailure(sender: string, error: unknown, isTrial: boolean): void {
    this.#failedFor.add(sender);
    if (isTrial) this.#failedTrials.add(sender);
    else if (this.#state !== 'closed' || this.#failedFor.size < failuresToOpen) return;
    const wantedMs = error instanceof TooManyRequests ? error.retryMs : openMs;
    const ms = Math.min(Math.max(wantedMs, openMs), maxOpenMs);
    this.#state = 'open';
    this.#openUntil = performance.now() + ms;
    this.#events.circuitOpened(this.#provider, ms);
  }

  #close(): void {
    this.#state = 'closed';
    this.#failedFor.clear();
    this.#failedTrials.clear();
    this.#events.circuitClosed(this.#provider);
  }
}

function isProviderFailure(error: unknown): boolean {
  if (error instanceof TooManyRequests) return !error.isUnknownToken;
  return !(error instanceof InvalidResponse || error instanceof ResponseTooLarge);
}
