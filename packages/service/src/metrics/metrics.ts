import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

interface Reading<N extends string> {
  /** The value of the label. */
  readonly label: string;
  /** Value of each gauge. */
  readonly values: Readonly<Record<N, number>>;
}

const readTimeoutMs = 2000;
const readCacheMs = 1000;

/** The metrics of a process, labelled with its service. Names end with their unit; label values are closed sets. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #onScrape: (() => Promise<void>)[] = [];

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
   * Registers gauges by name and help, with one series per value of the label. `read` provides the values at each scrape, at most once a
   * second. If it fails or takes longer than two seconds, the gauges have no series, rather than stale values.
   */
  gaugesOnScrape<N extends string>(
    helps: Record<N, string>,
    labelName: string,
    read: () => Promise<readonly Reading<N>[]>,
  ): void {
    const names = Object.keys(helps) as N[];
    const gauges = names.map((name) => [name, this.gauge(name, helps[name], [labelName])] as const);
    const refill = async () => {
      const late = sleep(readTimeoutMs, [], { ref: false });
      const readings = await Promise.race([Promise.try(read), late]).catch(() => []);
      for (const [name, gauge] of gauges) {
        gauge.reset();
        for (const { label, values } of readings) gauge.set({ [labelName]: label }, values[name]);
      }
    };
    let shared = Promise.resolve();
    let freshUntil = 0;
    this.#onScrape.push(() => {
      if (performance.now() <= freshUntil) return shared;
      freshUntil = Number.POSITIVE_INFINITY;
      shared = refill().finally(() => {
        freshUntil = performance.now() + readCacheMs;
      });
      return shared;
    });
  }

  /** All metrics in Prometheus' text format. */
  async exposition(): Promise<{ contentType: string; text: string }> {
    await Promise.all(this.#onScrape.map((refresh) => refresh()));
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }
}

// These gauges have a counter's suffix. Other gauges report the same by type.
const misleading = new Set([
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]);
