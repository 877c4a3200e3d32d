import type { Provider } from '@echodrop/identity-provider/provider';
import type { Metrics } from '@echodrop/service/metrics/metrics';
import type { IdentityProviders } from './provider/identity-provider.ts';

/** Registers the circuit state of each provider, read at each scrape: without requests, no event reports that a circuit may close. */
export function registerCircuitMetrics(
  metrics: Metrics,
  known: Iterable<Provider>,
  providers: Pick<IdentityProviders, 'isCircuitOpen'>,
): void {
  const helps = {
    echodrop_provider_circuit_open: 'Whether the circuit of an identity provider is open because it kept failing.',
  };
  metrics.gaugesOnScrape(helps, 'provider', async () =>
    [...known].map((provider) => {
      const values = { echodrop_provider_circuit_open: providers.isCircuitOpen(provider) ? 1 : 0 };
      return { label: provider.advertised, values };
    }),
  );
}
