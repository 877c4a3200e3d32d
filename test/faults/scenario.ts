import type { SeededRandom } from '@echodrop/testkit/seeded-random';
import type { Load } from './load.ts';
import type { System, SystemKind } from './start-system.ts';

/** What a scenario works on. */
export interface GameDay {
  readonly system: System;
  readonly load: Load;
  readonly random: SeededRandom;
  /** Counts an injected fault. */
  readonly broke: () => void;
  /** Reports a finding of the scenario itself. */
  readonly note: (what: string, which: string) => void;
}

/** A way in which the system is broken under load. */
export interface Scenario {
  readonly name: string;
  /** What it breaks, as in the report. */
  readonly breaks: string;
  readonly forSeconds: number;
  /** Whether it is also in the short set. */
  readonly isShort?: boolean;
  /** The kind of system that it breaks. Default: `one of each`. */
  readonly on?: SystemKind;
  /** Whether idempotency keys are lost, so that a repeat may make a second record (docs/decisions/011). */
  readonly forgetsKeys?: boolean;
  /** What this machine lacks for it. The scenario is then skipped and reported. */
  readonly missing?: () => Promise<string | undefined>;
  /** Starts the fault. Disposing the result ends it. */
  readonly begin: (day: GameDay) => Promise<AsyncDisposable>;
}
