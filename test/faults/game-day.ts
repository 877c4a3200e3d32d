import { setTimeout as sleep } from 'node:timers/promises';
import { leastCapable } from '@echodrop/object-store/habits.fixture';
import { SeededRandom } from '@echodrop/testkit/seeded-random';
import { inRandomOrder, isBrief, kindsOf, scenariosOf } from './all-scenarios.ts';
import { checkAll } from './checks/check-all.ts';
import type { Finding } from './checks/finding.ts';
import { findUnready, heldBy } from './checks/services.ts';
import { Ledger } from './ledger.ts';
import { calm, Load } from './load.ts';
import { GameDayReport } from './report.ts';
import type { Scenario } from './scenario.ts';
import { type System, type SystemKind, startSystem } from './start-system.ts';
import { UniqueMedia } from './unique-media.ts';

export interface GameDayOptions {
  readonly isLong: boolean;
  /** A long game day starts no scenario after this time. */
  readonly minutes: number;
  readonly seed: number;
  /** Selects scenarios by name. */
  readonly only: RegExp;
  /** Whether the store has the habits `leastCapable`. */
  readonly hasLeastStore: boolean;
  /** A folder on a disk, for ledgers and scratch files. */
  readonly folder: string;
}

const short = { perSecond: 2, patienceMs: 8000, jobsMs: 40_000 };
const long = { perSecond: 5, patienceMs: 60_000, jobsMs: 120_000 };
/** A long game day repeats brief scenarios until it reaches these numbers. */
const enough = { acknowledged: 10_000, faults: 200 };

/** Injects faults under load, scenario by scenario, then checks every upload. */
export async function playGameDay(options: GameDayOptions): Promise<GameDayReport> {
  const { isLong, minutes, seed, only } = options;
  const report = new GameDayReport(seed);
  const scenarios = scenariosOf({ isLong, only });
  const began = performance.now();
  for (const kind of kindsOf(scenarios)) {
    const random = new SeededRandom(seed);
    const isMain = kind === 'one of each';
    const isLate = () => isLong && performance.now() - began > minutes * 60_000;
    const hasEnough = () => report.acknowledged >= enough.acknowledged && report.faults >= enough.faults;
    const each = await playable(inRandomOrder(scenarios, kind, random), report);
    if (each.length > 0)
      await playOn(kind, options, report, async (play) => {
        for (const scenario of each) {
          if (isLate()) report.notPlayed.set(scenario.name, 'time limit reached');
          else await play(scenario);
        }
        const repeated = each.filter((scenario) => isBrief(scenario) && !report.notPlayed.has(scenario.name));
        while (isLong && isMain && repeated.length > 0 && !hasEnough() && !isLate()) await play(random.pick(repeated));
      });
  }
  return report;
}

/** The scenarios that this machine can play; the others are reported with the reason. */
async function playable(scenarios: readonly Scenario[], report: GameDayReport): Promise<Scenario[]> {
  const found: Scenario[] = [];
  for (const scenario of scenarios) {
    const missing = await scenario.missing?.();
    if (missing === undefined) found.push(scenario);
    else report.notPlayed.set(scenario.name, `missing ${missing}`);
  }
  return found;
}

type Play = (scenario: Scenario) => Promise<void>;

async function playOn(
  kind: SystemKind,
  { isLong, seed, folder, hasLeastStore }: GameDayOptions,
  report: GameDayReport,
  playAll: (play: Play) => Promise<void>,
): Promise<void> {
  const pace = isLong ? long : short;
  await using system = await startSystem(kind, folder, hasLeastStore ? leastCapable : []);
  const ledger = new Ledger(folder, kind);
  // A separate generator, because the number of calls depends on the machine.
  const loadRandom = new SeededRandom(seed);
  const media = await UniqueMedia.prepare(loadRandom);
  const findings: Finding[] = [];
  const load = new Load({ system, ledger, media, random: loadRandom, ...pace });
  let turn = 0;
  try {
    await load.waitForRecovery();
    const before = await heldBy(system);
    await playAll(async (scenario) => {
      const begun = performance.now();
      turn += 1;
      const random = new SeededRandom(seed + turn);
      const run = await playScenario(scenario, { system, load, random, findings });
      report.addRound(scenario, run.faults, run.recoverySeconds);
      report.progress(ledger.acknowledged);
      process.stdout.write(
        `${scenario.name}: ${run.faults} faults, recovered in ${run.recoverySeconds.toFixed(1)} s, finished after ${secondsSince(begun)} s\n`,
      );
    });
    await load.stop();
    const checking = performance.now();
    findings.push(...(await checkAll(system, ledger.entries(), { before, jobsMs: pace.jobsMs })));
    process.stdout.write(`checked in ${secondsSince(checking)} s\n`);
  } finally {
    await load.stop();
  }
  report.take(ledger.entries(), findings);
}

interface Played {
  readonly faults: number;
  readonly recoverySeconds: number;
}

async function playScenario(
  scenario: Scenario,
  { system, load, random, findings }: { system: System; load: Load; random: SeededRandom; findings: Finding[] },
): Promise<Played> {
  const { name, forSeconds, begin } = scenario;
  let faults = 0;
  const broke = () => {
    faults += 1;
  };
  const note = (what: string, which: string) => void findings.push({ scenario: name, what, which });
  load.scenario = name;
  try {
    {
      await using _fault = await begin({ system, load, random, note, broke });
      await sleep(forSeconds * 1000);
    }
    const undone = performance.now();
    findings.push(...(await findUnready(system)).map((finding) => ({ ...finding, scenario: name })));
    await load.waitForRecovery();
    const recoverySeconds = (performance.now() - undone) / 1000;
    load.scenario = calm;
    await load.settle();
    system.takeSeen();
    return { faults, recoverySeconds };
  } catch (error) {
    note('did not recover', String(error).split('\n', 1).join());
    return { faults, recoverySeconds: Number.NaN };
  }
}

function secondsSince(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
