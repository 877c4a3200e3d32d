import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';

const kinds = ['job', 'reply', 'verdict', 'claim'] as const;

/** A sealed entry in Redis: a job, its reply, a cached verdict, or a claim on an idempotency key. */
export type SealedKind = (typeof kinds)[number];

/** Counts and logs Redis entries with an invalid seal. */
export class Forgeries {
  readonly #log: Log;
  readonly #count;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#count = metrics.counter(
      'echodrop_forged_entries_total',
      'Redis entries rejected because of an invalid HMAC (forged, or secrets differ between services), by kind: job, reply, ' +
        'verdict (cached verification), claim (reserved idempotency key).',
      ['kind'],
    );
    // Alerts see the first one as an increase.
    for (const kind of kinds) this.#count.inc({ kind }, 0);
  }

  report(kind: SealedKind, fields: Readonly<Record<string, string>>): void {
    this.#count.inc({ kind });
    this.#log.error({ kind, ...fields }, 'Rejected Redis entry with invalid HMAC');
  }
}
