import type { Provider } from '@echodrop/identity-provider/provider';
import type { Metrics } from '@echodrop/service/metrics/metrics';

interface Asker {
  isCircuitOpen(provider: Provider): boolean;
}

/** Tells which of `known` are left alone when the metrics are asked for: of one that nobody asks about, no answer says that its time is over. */
export function registerCircuitMetrics(metrics: Metrics, known: Iterable<Provider>, asker: Asker): void {
  const helps = {
    echodrop_provider_circuit_open: 'Whether an identity provider is left alone now because it kept failing.',
  };
  metrics.gaugesOnScrape(helps, 'provider', async () =>
    [...known].map((provider) => {
      const values = { echodrop_provider_circuit_open: asker.isCircuitOpen(provider) ? 1 : 0 };
      return { label: provider.advertised, values };
    }),
  );
}
