import { setTimeout as sleep } from 'node:timers/promises';
import type { Gauge } from 'prom-client';

export interface Reading<N extends string> {
  /** Value of the label. */
  readonly label: string;
  /** Value of each gauge. */
  readonly values: Readonly<Record<N, number>>;
}

const timeoutMs = 2000;
const cacheMs = 1000;

/** Gauges that are read at each scrape, at most once a second. If reading fails they have no series, rather than stale values. */
export class GaugesOnScrape {
  readonly #refill: () => Promise<void>;
  #shared: Promise<void> | undefined;
  #freshUntil = 0;

  constructor(
    gauges: readonly (readonly [name: string, gauge: Gauge])[],
    labelName: string,
    read: () => Promise<readonly Reading<string>[]>,
  ) {
    this.#refill = async () => {
      const readings = await withTimeout(read).catch(() => []);
      for (const [name, gauge] of gauges) {
        gauge.reset();
        for (const { label, values } of readings) gauge.set({ [labelName]: label }, values[name] ?? Number.NaN);
      }
    };
  }

  /** Never rejects. */
  async refresh(): Promise<void> {
    if (this.#shared === undefined || performance.now() > this.#freshUntil) {
      this.#freshUntil = Number.POSITIVE_INFINITY;
      this.#shared = this.#refill().finally(() => {
        this.#freshUntil = performance.now() + cacheMs;
      });
    }
    await this.#shared;
  }
}

async function withTimeout<T>(read: () => Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = sleep(timeoutMs, undefined, { signal: done.signal, ref: false }).then(() => {
    throw new Error('timeout');
  });
  return await Promise.race([Promise.try(read), late]).finally(() => done.abort());
}
