import { ResponseTooLarge } from '@echodrop/identity-provider/provider-connections';
import {
  type BulkheadPolicy,
  bulkhead,
  type CircuitBreakerPolicy,
  CircuitState,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  type IHalfOpenAfterBackoffContext,
  isBrokenCircuitError,
  isBulkheadRejectedError,
} from 'cockatiel';
import { NoVerdict, TooManyQuestions } from './provider-failures.ts';

const questionsAtOnce = 256;
const crowdedMs = 1000;
const sendersThatOpen = 10;
const openMs = 10_000;
// However long a provider asks to be left alone.
const longestOpenMs = 5 * 60_000;

interface GateNews {
  /** For so many milliseconds nobody is sent there. */
  readonly opened: (ms: number) => void;
  readonly closed: () => void;
}

/**
 * Lets so many questions to a provider at once, and none for a while to one that failed for ten senders without an answer in between
 * (docs/decisions/009): for ten seconds, or for as long as its Retry-After says. That there are too many at once is no failure of the provider's.
 */
export class ProviderGate {
  readonly #breaker: CircuitBreakerPolicy;
  readonly #crowd: BulkheadPolicy = bulkhead(questionsAtOnce);
  readonly #news: GateNews;
  /** For whom the provider has failed since its last answer. */
  readonly #failedFor = new Set<string>();
  /** Whose question has found that the provider is not back yet. Each asks again ten seconds later than others: none of them may keep the gate shut. */
  readonly #foundShut = new Set<string>();
  #openUntil = 0;

  constructor(news: GateNews) {
    this.#news = news;
    this.#breaker = circuitBreaker(handleWhen(isItsFailure), {
      breaker: {
        state: undefined,
        success: () => this.#failedFor.clear(),
        failure: () => this.#failedFor.size >= sendersThatOpen,
      },
      halfOpenAfter: new DelegateBackoff((context: IHalfOpenAfterBackoffContext) => this.#opens(context)),
    });
    this.#breaker.onReset(() => {
      this.#foundShut.clear();
      news.closed();
    });
  }

  /** What the question of `sender` gives; or, where it was not asked, in how many milliseconds it may be. @throws what it throws */
  async execute<T>(sender: string, question: () => Promise<T>): Promise<T | { readonly openMs: number }> {
    // While one question finds out whether the provider is back, others need not wait for it.
    if (this.#breaker.state === CircuitState.HalfOpen) return { openMs: crowdedMs };
    const restMs = this.#openUntil + openMs - Date.now();
    if (this.#breaker.state === CircuitState.Open && this.#foundShut.has(sender) && restMs > 0)
      return { openMs: restMs };
    try {
      return await this.#crowd.execute(() => this.#breaker.execute(() => this.#count(sender, question)));
    } catch (error) {
      if (isBulkheadRejectedError(error)) return { openMs: crowdedMs };
      if (isBrokenCircuitError(error)) return { openMs: Math.max(0, this.#openUntil - Date.now()) };
      throw error;
    }
  }

  /** Whether it keeps questions away: for a time, or while one question finds out whether the provider is back. */
  get isShut(): boolean {
    return Date.now() < this.#openUntil || this.#breaker.state === CircuitState.HalfOpen;
  }

  async #count<T>(sender: string, question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (error) {
      if (isItsFailure(error)) {
        this.#failedFor.add(sender);
        if (this.#breaker.state === CircuitState.HalfOpen) this.#foundShut.add(sender);
      }
      throw error;
    }
  }

  #opens({ result }: IHalfOpenAfterBackoffContext): number {
    const error = 'error' in result ? result.error : undefined;
    const asked = error instanceof TooManyQuestions ? error.restMs : openMs;
    const ms = Math.min(Math.max(asked, openMs), longestOpenMs);
    this.#openUntil = Date.now() + ms;
    this.#news.opened(ms);
    return ms;
  }
}

function isItsFailure(error: unknown): boolean {
  if (error instanceof TooManyQuestions) return !error.isOfGuest;
  return !(error instanceof NoVerdict || error instanceof ResponseTooLarge);
}
