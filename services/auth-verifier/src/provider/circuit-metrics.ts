import type { Provider } from '@echodrop/identity-provider/provider';
import type { Metrics } from '@echodrop/service/metrics/metrics';

/** Registers the circuit state of each provider, read at each scrape: without requests, no event reports that a circuit may close. */
export function registerCircuitMetrics(
  metrics: Metrics,
  known: readonly Provider[],
  isOpen: (provider: Provider) => boolean,
): void {
  const name = 'echodrop_provider_circuit_open';
  const help = '1 if the circuit of the identity provider is open because it kept failing, 0 if not.';
  metrics.gaugesOnScrape({ [name]: help }, 'provider', async () =>
    known.map((provider) => ({
      label: provider.advertised,
      values: { [name]: isOpen(provider) ? 1 : 0 },
    })),
  );
}
