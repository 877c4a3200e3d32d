import { AnswerTooLarge } from '@echodrop/identity-provider/provider-connections';
import {
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  type IHalfOpenAfterBackoffContext,
  isBrokenCircuitError,
} from 'cockatiel';
import { NoVerdict, TooManyQuestions } from './provider-failures.ts';

const failuresThatOpen = 10;
const openMs = 10_000;
// However long a provider asks to be left alone.
const longestOpenMs = 5 * 60_000;

/** Leaves a provider alone that failed ten times in a row (docs/decisions/009): for ten seconds, or for as long as its Retry-After says. */
export class ProviderBreaker {
  readonly #policy: CircuitBreakerPolicy;
  readonly #told: { readonly opened: (ms: number) => void };
  #openUntil = 0;

  /** `opened` is told for how many milliseconds nobody is sent there, `closed` that they are again. */
  constructor(told: { readonly opened: (ms: number) => void; readonly closed: () => void }) {
    this.#told = told;
    this.#policy = circuitBreaker(
      handleWhen((error) => !(error instanceof NoVerdict || error instanceof AnswerTooLarge)),
      {
        breaker: new ConsecutiveBreaker(failuresThatOpen),
        halfOpenAfter: new DelegateBackoff((context: IHalfOpenAfterBackoffContext) => this.#opens(context)),
      },
    );
    this.#policy.onReset(told.closed);
  }

  /** What `question` gives; `open`, with the milliseconds until it is asked again, when it was not asked. @throws what it throws */
  async execute<T>(question: () => Promise<T>): Promise<T | { readonly openMs: number }> {
    try {
      return await this.#policy.execute(question);
    } catch (error) {
      if (isBrokenCircuitError(error)) return { openMs: Math.max(0, this.#openUntil - Date.now()) };
      throw error;
    }
  }

  #opens({ result }: IHalfOpenAfterBackoffContext): number {
    const error = 'error' in result ? result.error : undefined;
    const asked = error instanceof TooManyQuestions ? error.restMs : openMs;
    const ms = Math.min(Math.max(asked, openMs), longestOpenMs);
    this.#openUntil = Date.now() + ms;
    this.#told.opened(ms);
    return ms;
  }
}
