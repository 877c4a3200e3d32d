import type { ProviderUser, Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';

/** Where a verdict came from: the provider or the cache; or from us, since the scheme is not spoken, the proof is a replay, or the provider is left alone. */
export type VerdictSource = 'provider' | 'cache' | 'scheme' | 'replay' | 'circuit_open';

/** What happens in the auth-verifier, as log lines and metrics. */
export class VerifierEvents {
  readonly #log: Log;
  readonly #verifications;
  readonly #seconds;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#verifications = metrics.counter('echodrop_verifications_total', 'Verdicts by provider, outcome and source.', [
      'provider',
      'outcome',
      'source',
    ]);
    this.#seconds = metrics.histogram(
      'echodrop_provider_seconds',
      'Duration of requests to identity providers.',
      ['provider', 'outcome'],
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    );
  }

  /** `seconds` where the provider was asked. */
  answered({ advertised: provider }: Provider, { outcome }: Verdict, source: VerdictSource, seconds?: number): void {
    this.#verifications.inc({ provider, outcome, source });
    setSpanAttributes({ 'echodrop.provider': provider, 'echodrop.outcome': outcome, 'echodrop.source': source });
    if (seconds !== undefined) this.#seconds.observe({ provider, outcome }, seconds);
    this.#log[outcome === 'verified' ? 'debug' : 'info']({ provider, outcome, source, seconds }, 'Verdict given');
  }

  forgotten({ provider, subject }: ProviderUser): void {
    this.#log.info({ provider, subject }, 'Discarded the cached verdicts of a user');
  }

  /** `error` is told by its message alone: what it carries may hold a header that was sent. */
  providerFailed({ advertised: provider }: Provider, error: unknown): void {
    this.#log.warn(
      { provider, reason: error instanceof Error ? error.message : 'unknown' },
      'Identity provider request failed',
    );
  }

  circuitOpened({ advertised: provider }: Provider, ms: number): void {
    this.#log.warn({ provider, seconds: ms / 1000 }, 'Identity provider circuit opened');
  }

  circuitClosed({ advertised: provider }: Provider): void {
    this.#log.info({ provider }, 'Identity provider circuit closed');
  }
}
