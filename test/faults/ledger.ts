import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MediaKind } from './unique-media.ts';

/** The outcome for the client: a record, a refusal, or unknown. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** What a client knows about an upload after all attempts. */
export interface LedgerEntry {
  readonly outcome: Outcome;
  /** The scenarios during which it began and ended. */
  readonly scenario: string;
  readonly endedIn: string;
  /** The message, unique to this upload. */
  readonly text: string;
  readonly sha256: string;
  readonly size: number;
  readonly kind: MediaKind;
  readonly version: 1 | 2;
  /** The owner: the user who signs, or the one with a bearer token. */
  readonly user: 'signing' | 'bearer';
  readonly isKeyed: boolean;
  readonly attempts: number;
  /** Set if acknowledged. */
  readonly id?: string;
  /** Why it was not acknowledged: status and reason of the last response. */
  readonly why?: string;
  /** Whether a removal was acknowledged, if the owner removed the upload. */
  readonly removal?: Exclude<Outcome, 'refused'>;
}

interface RemovalLine {
  readonly removed: string;
  readonly removal: NonNullable<LedgerEntry['removal']>;
}

/** The responses to clients, in a file of JSON lines, which is all that checks know. */
export class Ledger {
  readonly path: string;
  /** The number of acknowledged uploads. */
  acknowledged = 0;

  constructor(folder: string, name: string) {
    this.path = join(folder, `ledger of ${name}.jsonl`);
    appendFileSync(this.path, '');
  }

  record(entry: LedgerEntry): void {
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`);
    if (entry.outcome === 'acknowledged') this.acknowledged += 1;
  }

  /** Records the outcome of a removal; `unknown` before the request. */
  recordRemoval(id: string, removal: RemovalLine['removal']): void {
    appendFileSync(this.path, `${JSON.stringify({ removed: id, removal } satisfies RemovalLine)}\n`);
  }

  entries(): LedgerEntry[] {
    const lines = readFileSync(this.path, 'utf8').split('\n').filter(Boolean);
    const noted = lines.map((line) => JSON.parse(line) as LedgerEntry | RemovalLine);
    const removals = new Map(noted.flatMap((each) => ('removed' in each ? [[each.removed, each.removal]] : [])));
    return noted.flatMap((each) => {
      if ('removed' in each) return [];
      const removal = removals.get(each.id ?? '');
      return [removal === undefined ? each : { ...each, removal }];
    });
  }
}
