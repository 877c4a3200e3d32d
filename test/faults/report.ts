import { writeFile } from 'node:fs/promises';
import { postponed } from './checks/damaged.ts';
import { duplicate } from './checks/duplicates.ts';
import type { Finding } from './checks/finding.ts';
import type { LedgerEntry } from './ledger.ts';
import type { Scenario } from './scenario.ts';

/** Outcomes of the uploads that began during a scenario, in all its rounds. */
export interface Row {
  readonly scenario: string;
  readonly breaks: string;
  rounds: number;
  faults: number;
  uploads: number;
  acknowledged: number;
  refused: number;
  /** Without a response, and without a key for a retry. */
  unknown: number;
  /** Acknowledged uploads whose bytes, record, page and renditions are present and correct. */
  whole: number;
  /** Acknowledged uploads in all their lists. */
  listed: number;
  /** Acknowledged uploads with an acknowledged removal. They count as whole and listed if they are gone. */
  removed: number;
  /** The longest recovery after the end of the fault. */
  recoverySeconds: number;
}

const columns = [
  ...(['scenario', 'rounds', 'faults', 'uploads', 'acknowledged'] as const),
  ...(['refused', 'unknown', 'whole', 'listed', 'removed'] as const),
];

/** The result of a game day. */
export class GameDayReport {
  readonly seed: number;
  readonly date = new Date();
  readonly rows = new Map<string, Row>();
  readonly findings: Finding[] = [];
  /** Findings that are a documented cost of a fault. */
  readonly prices: Finding[] = [];
  /** The scenarios that were not played, with the reason. */
  readonly notPlayed = new Map<string, string>();
  readonly #forgetful = new Set<string>();
  #taken = 0;
  /** Acknowledged uploads so far, including the current system. */
  acknowledged = 0;

  constructor(seed: number) {
    this.seed = seed;
  }

  get faults(): number {
    return [...this.rows.values()].reduce((sum, { faults }) => sum + faults, 0);
  }

  /** Adds a finished round of a scenario. */
  addRound({ name, breaks, forgetsKeys }: Scenario, faults: number, recoverySeconds: number): void {
    const row = this.#row(name, breaks);
    row.rounds += 1;
    row.faults += faults;
    row.recoverySeconds = Math.max(row.recoverySeconds, recoverySeconds);
    if (forgetsKeys) this.#forgetful.add(name);
  }

  /** Updates the number of acknowledged uploads; `running` is that of the current system. */
  progress(running: number): void {
    this.acknowledged = this.#taken + running;
  }

  /** Adds the ledger and the findings of a system. */
  take(entries: readonly LedgerEntry[], found: readonly Finding[]): void {
    const isExpected = (finding: Finding) => this.#isExpected(finding, entries);
    const kept = found.filter((finding) => !isExpected(finding));
    this.findings.push(...kept);
    this.prices.push(...found.filter(isExpected));
    const faulty = found.filter((finding) => kept.includes(finding) || finding.what === postponed);
    const wrong = (whats: (what: string) => boolean) =>
      new Set(faulty.filter(({ what }) => whats(what)).map(({ which }) => which.split(' ')[0]));
    const notListed = wrong((what) => what.includes('list'));
    const damaged = wrong((what) => !what.includes('list'));
    for (const { scenario, outcome, removal, id = '' } of entries) {
      const row = this.#row(scenario, '');
      row.uploads += 1;
      row[outcome] += 1;
      if (outcome !== 'acknowledged') continue;
      if (removal === 'acknowledged') row.removed += 1;
      if (!damaged.has(id)) row.whole += 1;
      if (!notListed.has(id)) row.listed += 1;
    }
    this.#taken += entries.filter(({ outcome }) => outcome === 'acknowledged').length;
    this.acknowledged = this.#taken;
  }

  /** The report as text. */
  lines(): string[] {
    const rows = [...this.rows.values()].map((row) =>
      [...columns.map((name) => row[name]), row.recoverySeconds.toFixed(1)].join(' | '),
    );
    const format = ({ scenario, what, which }: Finding) => `${scenario}: ${what}: ${which}`;
    return [
      `seed ${this.seed}: ${this.acknowledged} acknowledged uploads, ${this.faults} faults, ${this.findings.length} findings`,
      [...columns, 'recovery (s)'].join(' | '),
      ...rows,
      ...[...this.notPlayed].map(([name, why]) => `NOT PLAYED ${name}: ${why}`),
      ...this.prices.map((each) => `EXPECTED ${format(each)}`),
      ...this.findings.map((each) => `FAILED ${format(each)}`),
    ];
  }

  /** Writes the report as JSON. */
  async write(path: string): Promise<void> {
    const { seed, date, acknowledged, faults, findings, prices } = this;
    const notPlayed = Object.fromEntries(this.notPlayed);
    const report = { seed, date, acknowledged, faults, rows: [...this.rows.values()], notPlayed, findings, prices };
    await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
  }

  // A Redis without its data does not know used keys (docs/decisions/admission-and-idempotency.md).
  // A job that killed two workers is not retried for an hour (docs/decisions/renditions.md).
  #isExpected({ what, which }: Finding, entries: readonly LedgerEntry[]): boolean {
    if (what === postponed) return true;
    const entry = entries.find(({ text }) => which.endsWith(text));
    const during = entry ? [entry.scenario, entry.endedIn] : [];
    return what === duplicate && during.some((name) => this.#forgetful.has(name));
  }

  #row(scenario: string, breaks: string): Row {
    const row = this.rows.get(scenario) ?? { scenario, breaks, ...nothing };
    this.rows.set(scenario, row);
    return row;
  }
}

const nothing = {
  rounds: 0,
  faults: 0,
  uploads: 0,
  acknowledged: 0,
  refused: 0,
  unknown: 0,
  whole: 0,
  listed: 0,
  removed: 0,
  recoverySeconds: 0,
};
