import type { Log } from './log.ts';
import { reasonOf } from './reason-of.ts';
import type { Secret } from './secret.ts';

export type OutageLog = Pick<Log, 'warn' | 'error'>;

interface OutageOptions {
  /** What is logged when an outage begins, and when it ends. */
  readonly begin: string;
  readonly end: string;
  /** The level of the log line `begin`. Default: warn. */
  readonly level?: 'warn' | 'error';
  /** The field of the log that names what is down. */
  readonly field?: string;
  /** Logs an outage only if it is reported again after this time: a start or a failover ends sooner. Default: 0. */
  readonly graceMs?: number;
  /** Logs so many different reasons of an outage. Default: 4. */
  readonly maxReasons?: number;
  readonly secrets?: readonly Secret[];
}

interface Outage {
  readonly since: number;
  /** The reasons that were logged, with every number as 0. */
  readonly reasons: Set<string>;
}

/** Logs what is down once for each different reason, and its end once, however often a probe or a retry reports it. */
export class Outages {
  readonly #log: OutageLog;
  readonly #options: OutageOptions;
  readonly #outages = new Map<string, Outage>();

  constructor(log: OutageLog, options: OutageOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Reports that `name` is down; it is empty if this object is about one thing only. @returns the reason, without secrets and unsafe characters */
  report(name: string, error: unknown): string {
    const { begin, level = 'warn', graceMs = 0, maxReasons = 4, secrets } = this.#options;
    const reason = reasonOf(error, secrets);
    const now = performance.now();
    const outage = this.#outages.get(name) ?? { since: now, reasons: new Set() };
    this.#outages.set(name, outage);
    // Messages of one reason differ in durations and ports.
    const kind = reason.replace(/\d+/g, '0');
    if (now - outage.since < graceMs || outage.reasons.has(kind) || outage.reasons.size >= maxReasons) return reason;
    outage.reasons.add(kind);
    this.#log[level]({ ...this.#fieldsOf(name), reason }, begin);
    return reason;
  }

  /** Reports that `name` works again. This is a warning, too: who sees the loss must see its end. */
  end(name: string): void {
    const outage = this.#outages.get(name);
    if (!outage) return;
    this.#outages.delete(name);
    if (outage.reasons.size > 0) this.#log.warn(this.#fieldsOf(name), this.#options.end);
  }

  #fieldsOf(name: string): Record<string, string> {
    return name === '' ? {} : { [this.#options.field ?? 'part']: name };
  }
}
