import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { GaugesOnScrape, type Reading } from './gauges-on-scrape.ts';

/**
 * The metrics of one process: what is made here is told under /metrics, with the service's name as a label of every series.
 * Names end with their unit, and every label has a closed set of values.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #onScrape: GaugesOnScrape[] = [];

  constructor(service: string) {
    this.#registry.setDefaultLabels({ service });
    // The event loop's gauges start anew with each scrape, so that two scrapers spoil each other's: event-loop-delay.ts has ours. Their monitor
    // cannot be turned off, but it need not wake an idle process.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 3_600_000 });
    for (const { name } of this.#registry.getMetricsAsArray()) {
      if (name.startsWith('nodejs_eventloop_lag') || misnamed.has(name)) this.#registry.removeSingleMetric(name);
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
   * Gauges of what lies outside the process, each with the help that `helps` has for its name, and one series for each value of
   * `label`. `ask` is called when the metrics are asked for; where it fails, or takes longer than two seconds, nothing is told.
   */
  gaugesOnScrape<N extends string>(
    helps: Record<N, string>,
    label: string,
    ask: () => Promise<readonly Reading<N>[]>,
  ): void {
    const gauge = (name: N) => [name, this.gauge(name, helps[name], [label])] as const;
    this.#onScrape.push(new GaugesOnScrape((Object.keys(helps) as N[]).map(gauge), label, ask));
  }

  /** Everything in Prometheus' text format, and that format's content type. */
  async exposition(): Promise<{ contentType: string; text: string }> {
    await Promise.all(this.#onScrape.map((each) => each.refresh()));
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

// Gauges whose names end like those of counters; each has a namesake that tells the same by type.
const misnamed = new Set([
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]);
