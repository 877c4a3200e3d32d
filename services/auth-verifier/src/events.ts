import type { ProviderUser, Verdict } from '@echodrop/contracts/verification';
import type { Provider } from '@echodrop/identity-provider/provider';
import type { Log } from '@echodrop/service/log';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import { setSpanAttributes } from '@echodrop/service/tracing/trace';

/**
 * Why the provider was not queried. `circuit_open`: its circuit is open, or a trial runs. `token_rate_limited`: the provider returned 429 for this
 * token. `busy`: too many requests to the provider run.
 */
export type NotQueried = 'circuit_open' | 'token_rate_limited' | 'busy';

/**
 * `undecided`: another auth-verifier's query with the same proof had no outcome.
 * `unsupported_scheme`: the provider does not support the proof's scheme.
 */
type VerdictSource = 'provider' | 'cache' | 'undecided' | 'unsupported_scheme' | NotQueried;

export type VerifierEvents = ReturnType<typeof createVerifierEvents>;

/** Log lines and metrics of the auth-verifier. */
export function createVerifierEvents(log: Log, metrics: Metrics) {
  const verifications = metrics.counter(
    'echodrop_verifications_total',
    'Verifications by provider, outcome and source of the verdict. docs/reference/metrics.md describes the sources.',
    ['provider', 'outcome', 'source'],
  );
  const providerSeconds = metrics.histogram(
    'echodrop_provider_seconds',
    'Duration of requests to identity providers.',
    ['provider', 'outcome'],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  return {
    /** `seconds` is the duration of the provider request, if there was one. */
    verificationCompleted(
      { advertised: provider }: Provider,
      verdict: Verdict,
      source: VerdictSource,
      seconds?: number,
    ): void {
      // Not `refused`: a connection can be refused too.
      const outcome = verdict.outcome === 'refused' ? 'rejected' : verdict.outcome;
      verifications.inc({ provider, outcome, source });
      setSpanAttributes({ 'echodrop.provider': provider, 'echodrop.outcome': outcome, 'echodrop.source': source });
      if (seconds !== undefined) providerSeconds.observe({ provider, outcome }, seconds);
      log[outcome === 'verified' ? 'debug' : 'info'](
        { provider, outcome, source, seconds: seconds && Math.round(seconds * 1000) / 1000 },
        'Verification finished',
      );
    },
    userForgotten({ provider, subject }: ProviderUser): void {
      log.info({ provider, subject }, 'Cleared the cached verdicts of a user');
    },
    /** Logs only the message of `error`: its other fields may hold a credential. */
    providerFailed({ advertised: provider }: Provider, error: unknown): void {
      const reason = error instanceof Error ? error.message : 'unknown';
      log.warn({ provider, reason }, 'Identity provider request failed');
    },
    circuitOpened({ advertised: provider }: Provider, ms: number): void {
      log.warn({ provider, openForSeconds: ms / 1000 }, 'Identity provider circuit opened');
    },
    circuitClosed({ advertised: provider }: Provider): void {
      log.info({ provider }, 'Identity provider circuit closed');
    },
  };
}
