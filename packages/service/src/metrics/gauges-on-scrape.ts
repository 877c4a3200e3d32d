import { setTimeout as sleep } from 'node:timers/promises';
import type { Gauge } from 'prom-client';

/** What was found of one thing: the value of the label, and that of each gauge. */
export interface Reading<N extends string> {
  readonly of: string;
  readonly values: Readonly<Record<N, number>>;
}

const askMs = 2000;
const freshMs = 1000;

/**
 * Gauges that are filled when the metrics are asked for, at most once a second however many ask. What could not be found out is not
 * told: an old value would be taken for a new one.
 */
export class GaugesOnScrape {
  readonly #refill: () => Promise<void>;
  #shared: Promise<void> | undefined;
  #freshUntil = 0;

  constructor(
    gauges: readonly (readonly [name: string, gauge: Gauge])[],
    label: string,
    ask: () => Promise<readonly Reading<string>[]>,
  ) {
    this.#refill = async () => {
      const readings = await withinLimit(ask).catch(() => []);
      for (const [name, gauge] of gauges) {
        gauge.reset();
        for (const { of, values } of readings) gauge.set({ [label]: of }, values[name] ?? Number.NaN);
      }
    };
  }

  /** Never rejects. */
  async refresh(): Promise<void> {
    if (this.#shared === undefined || performance.now() > this.#freshUntil) {
      this.#freshUntil = Number.POSITIVE_INFINITY;
      this.#shared = this.#refill().finally(() => {
        this.#freshUntil = performance.now() + freshMs;
      });
    }
    await this.#shared;
  }
}

async function withinLimit<T>(ask: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(askMs, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error('no answer in time');
  });
  return await Promise.race([Promise.try(ask), late]).finally(() => over.abort());
}
