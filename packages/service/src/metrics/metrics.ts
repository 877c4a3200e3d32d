import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { GaugesOnScrape, type Reading } from './gauges-on-scrape.ts';

/**
 * The metrics of one process, each with the service's name as a label. Names end with their unit, and every label has a closed
 * set of values.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #onScrape: GaugesOnScrape[] = [];

  constructor(service: string) {
    this.#registry.setDefaultLabels({ service });
    // The default event loop gauges reset at each scrape, so two scrapers disturb each other; event-loop-delay.ts replaces them.
    // Their monitor cannot be turned off, but with this precision it does not wake an idle process.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 3_600_000 });
    for (const { name } of this.#registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_eventloop_lag') || misleading.has(name)) this.#registry.removeSingleMetric(name);
    }
  }

  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  gauge<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** `buckets` in the unit that ends the name. */
  histogram<L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }

  /**
   * Registers gauges by name and help, with one series per value of the label. `read` provides the values at each scrape; if it
   * fails or takes longer than two seconds, the gauges have no series.
   */
  gaugesOnScrape<N extends string>(
    helps: Record<N, string>,
    labelName: string,
    read: () => Promise<readonly Reading<N>[]>,
  ): void {
    const gauge = (name: N) => [name, this.gauge(name, helps[name], [labelName])] as const;
    this.#onScrape.push(new GaugesOnScrape((Object.keys(helps) as N[]).map(gauge), labelName, read));
  }

  /** All metrics in Prometheus' text format. */
  async exposition(): Promise<{ contentType: string; text: string }> {
    await Promise.all(this.#onScrape.map((each) => each.refresh()));
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

// Gauges with a counter's suffix; others report the same by type.
const misleading = new Set([
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]);
