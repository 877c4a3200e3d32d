import type { ProviderUser, Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics';

/** What happens in the auth-verifier, as log lines and metrics. */
export class VerifierEvents {
  readonly #log: Log;
  readonly #verifications;
  readonly #seconds;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#verifications = metrics.counter(
      'echodrop_verifications_total',
      'Verdicts, by what they were and where they came from.',
      ['outcome', 'source'],
    );
    this.#seconds = metrics.histogram(
      'echodrop_provider_seconds',
      'From the question to the answer of an identity provider.',
      ['outcome'],
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    );
  }

  answered(outcome: Verdict['outcome'], source: 'cache' | 'provider' | 'replay', seconds?: number): void {
    this.#verifications.inc({ outcome, source });
    if (seconds !== undefined) this.#seconds.observe({ outcome }, seconds);
    this.#log.debug({ outcome, source, seconds }, 'verified');
  }

  forgotten({ provider, subject }: ProviderUser): void {
    this.#log.info({ provider, subject }, 'user forgotten');
  }

  /** `error` is told by its message alone: what it carries may hold a header that was sent. */
  providerFailed({ advertised }: Provider, error: unknown): void {
    this.#log.warn(
      { provider: advertised, reason: error instanceof Error ? error.message : 'unknown' },
      'provider failed',
    );
  }
}
