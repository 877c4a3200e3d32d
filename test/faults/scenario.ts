import type { SeededRandom } from '@echodrop/testkit/seeded-random';
import type { Load } from './load.ts';
import type { System, SystemKind } from './start-system.ts';

/** What a scenario works on. */
export interface GameDay {
  readonly system: System;
  readonly load: Load;
  readonly random: SeededRandom;
  /** Counts a fault: something that was broken once. */
  readonly broke: () => void;
  /** Reports what a scenario itself has found wrong. */
  readonly note: (what: string, which: string) => void;
}

/** A way in which the system is broken under load. */
export interface Scenario {
  readonly name: string;
  /** What it breaks, as in the report. */
  readonly breaks: string;
  readonly forSeconds: number;
  /** Whether it belongs to the short set too. */
  readonly isShort?: boolean;
  /** What it is done to; `one of each` unless said. */
  readonly on?: SystemKind;
  /** Whether it takes the memory of idempotency keys away, so that a repeat may make a second record (docs/decisions/011). */
  readonly forgetsKeys?: boolean;
  /** What this machine has not got that it needs; it is skipped then, and reported. */
  readonly missing?: () => Promise<string | undefined>;
  /** Starts the fault. Disposing the result ends it. */
  readonly begin: (day: GameDay) => Promise<AsyncDisposable>;
}

/** What undoes a scenario. */
export function undoneBy(undo: () => Promise<unknown> | unknown): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      await undo();
    },
  };
}

/** Does `work` until it is undone, which rejects with its error. */
export function meanwhile(work: (over: AbortSignal) => Promise<void>): AsyncDisposable {
  const over = new AbortController();
  const working = work(over.signal);
  // Until then its rejection is not handled.
  working.catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      await working;
    },
  };
}
