import { randomInt } from 'node:crypto';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    fuzzing: {
      readonly seed: number;
      /** Of the case with which a run begins; empty for all cases. */
      readonly path: string;
      /** The time of each file. */
      readonly ms: number;
    };
  }
}

/** Vitest's global setup of `npm run test:fuzz`: divides FUZZ_SECONDS (ten minutes) among the files of this run, which have one fuzzer each. */
export function setup(project: TestProject): void {
  const { FUZZ_SEED, FUZZ_PATH = '', FUZZ_SECONDS } = process.env;
  const seed = Number(FUZZ_SEED || randomInt(2 ** 31));
  const seconds = Number(FUZZ_SECONDS || 600);
  if (![seed, seconds].every(Number.isSafeInteger)) throw new Error('FUZZ_SEED and FUZZ_SECONDS must be whole numbers');
  const { length } = project.vitest.state.getPaths();
  project.provide('fuzzing', { seed, path: FUZZ_PATH, ms: (seconds * 1000) / length });
  project.vitest.logger.log(`Fuzzing ${length} targets for ${seconds} s, with FUZZ_SEED=${seed}`);
}
