import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { patienceMs } from '../patience.ts';
import './fuzz-global-setup.ts';

const MiB = 2 ** 20;

export interface FuzzOptions<T> {
  /** Cases that failed once, pasted as the failure printed them. They run first. */
  readonly known?: readonly T[];
  /** The most processor time of a case, in seconds: that of this process, without the programs that it starts. */
  readonly maxCpuSeconds?: number;
  /** The most by which the peak of this process's memory grows. */
  readonly maxGrownMiB?: number;
}

/** A test of random cases for its share of FUZZ_SECONDS. A failure prints its seed, its path, the smallest case and how to repeat it. */
export function fuzz<T>(
  name: string,
  cases: fc.Arbitrary<T>,
  check: (value: T) => void | Promise<void>,
  { known = [], maxCpuSeconds = 2, maxGrownMiB = 512 }: FuzzOptions<T> = {},
): void {
  const { seed, path, ms } = inject('fuzzing');
  test(name, { timeout: ms + 3 * patienceMs }, async ({ task }) => {
    const atStart = process.resourceUsage().maxRSS;
    let last: Promise<void> = Promise.resolve();
    const property = fc.asyncProperty(cases, (value) => {
      last = withinLimits(check, value, maxCpuSeconds);
      return last;
    });
    const run = await fc.check(property, {
      seed,
      path,
      examples: known.map((each) => [each]),
      numRuns: Number.POSITIVE_INFINITY,
      interruptAfterTimeLimit: ms,
      markInterruptAsFailure: false,
    });
    if (run.failed) throw failureOf(run, run.counterexample?.[0], task.file.name);
    // The time limit abandons the last case.
    await last;
    console.log(`${name}: ${run.numRuns} cases`);
    expect(run.numRuns).toBeGreaterThan(0);
    expect((process.resourceUsage().maxRSS - atStart) * 1024).toBeLessThan(maxGrownMiB * MiB);
  });
}

/** @throws what `check` throws; Error if it takes too much processor time or never ends */
async function withinLimits<T>(check: (value: T) => void | Promise<void>, value: T, maxCpuSeconds: number) {
  const before = process.cpuUsage();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no end within ${patienceMs} ms`)), patienceMs);
  try {
    await Promise.race([check(value), late.promise]);
  } finally {
    clearTimeout(timer);
  }
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  if (seconds > maxCpuSeconds) throw new Error(`took ${seconds} s of processor time`);
}

type Failure = Pick<fc.RunDetails<unknown>, 'seed' | 'counterexamplePath' | 'numRuns' | 'errorInstance'>;

function failureOf({ seed, counterexamplePath, numRuns, errorInstance }: Failure, value: unknown, file: string): Error {
  // The rest of the path says how the case was made smaller, in hundreds of steps that repeat by themselves.
  const path = counterexamplePath?.split(':', 1)[0];
  const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const repeat = `FUZZ_SEED=${seed} FUZZ_PATH=${path} npm run test:fuzz -- ${file}`;
  const lines = [
    // Summaries show the first line only.
    `${message.split('\n', 1)[0]} (to repeat: ${repeat})`,
    `Case ${numRuns} failed. The smallest that fails:`,
    fc.stringify(value),
  ];
  return new Error(lines.join('\n'), { cause: errorInstance });
}
