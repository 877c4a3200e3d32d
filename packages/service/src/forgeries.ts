import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';

const kinds = ['job', 'answer', 'verdict', 'claim'] as const;

/** What lies in Redis under a seal: a job, its answer, a cached verdict, a claim on an idempotency key. */
export type SealedKind = (typeof kinds)[number];

/** Counts and logs entries in Redis whose seal does not fit. */
export class Forgeries {
  readonly #log: Log;
  readonly #found;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#found = metrics.counter(
      'echodrop_forged_entries_total',
      'Ignored Redis entries with a wrong seal; caused by a forgery or by secrets that differ between services.',
      ['kind'],
    );
    // From the start, so that the first one is an increase.
    for (const kind of kinds) this.#found.inc({ kind }, 0);
  }

  found(kind: SealedKind, facts: Readonly<Record<string, string>>): void {
    this.#found.inc({ kind });
    this.#log.error({ kind, ...facts }, 'Ignored an entry in Redis with a wrong seal');
  }
}
