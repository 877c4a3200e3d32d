import type { SeededRandom } from '@echodrop/testkit/seeded-random';
import type { Load } from './load.ts';
import type { System, SystemKind } from './start-system.ts';

export interface GameDay {
  readonly system: System;
  readonly load: Load;
  readonly random: SeededRandom;
  /** Counts an injected fault. */
  readonly broke: () => void;
  /** Reports a finding of the scenario itself. */
  readonly note: (what: string, which: string) => void;
}

/** A fault under load. */
export interface Scenario {
  readonly name: string;
  /** The fault, as in the report. */
  readonly breaks: string;
  readonly forSeconds: number;
  /** Whether it is also in the short set. */
  readonly isShort?: boolean;
  /** The kind of system. Default: `one of each`. */
  readonly on?: SystemKind;
  /** Whether idempotency keys are lost, so that a repeat may make a second record (docs/decisions/admission-and-idempotency.md). */
  readonly forgetsKeys?: boolean;
  /** What this machine lacks for it, if anything. The scenario is then skipped. */
  readonly missing?: () => Promise<string | undefined>;
  /** Starts the fault. Disposing the result ends it. */
  readonly begin: (day: GameDay) => Promise<AsyncDisposable>;
}
