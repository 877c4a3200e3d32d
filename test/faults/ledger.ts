import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MediaKind } from './unique-media.ts';

/** How an upload ended for its client: with a record, a refusal, or nothing that a client can rely on. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

/** What a client knows of one upload that it has sent, in as many attempts as it took. */
export interface LedgerEntry {
  readonly outcome: Outcome;
  /** The scenario under which it was begun, and the one under which it ended. */
  readonly scenario: string;
  readonly endedIn: string;
  /** The message, which no other upload has. */
  readonly text: string;
  readonly sha256: string;
  readonly size: number;
  readonly kind: MediaKind;
  readonly version: 1 | 2;
  /** Whose it is: the user of signatures, or the one of a bearer token. */
  readonly user: 'signing' | 'bearer';
  readonly isKeyed: boolean;
  readonly attempts: number;
  /** Of an acknowledged one. */
  readonly id?: string;
  /** Why it was not acknowledged: status and reason of the last answer. */
  readonly why?: string;
  /** Of one that its owner has removed since: whether the removal was answered. */
  readonly removal?: Exclude<Outcome, 'refused'>;
}

interface RemovalLine {
  readonly removed: string;
  readonly removal: NonNullable<LedgerEntry['removal']>;
}

/** The answers to clients, a line of JSON each in a file: written before anything is done with it, and all that checks go by. */
export class Ledger {
  readonly path: string;
  /** How many uploads were acknowledged. */
  acknowledged = 0;

  constructor(folder: string, name: string) {
    this.path = join(folder, `ledger of ${name}.jsonl`);
    appendFileSync(this.path, '');
  }

  note(entry: LedgerEntry): void {
    appendFileSync(this.path, `${JSON.stringify(entry)}\n`);
    if (entry.outcome === 'acknowledged') this.acknowledged += 1;
  }

  /** Notes what is known of a removal: `unknown` before the request. */
  noteRemoval(id: string, removal: RemovalLine['removal']): void {
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
