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
export function setup({ vitest, provide }: TestProject): void {
  const { FUZZ_SEED, FUZZ_PATH = '', FUZZ_SECONDS } = process.env;
  const seed = wholeNumber('FUZZ_SEED', FUZZ_SEED || String(randomInt(2 ** 31)));
  const seconds = wholeNumber('FUZZ_SECONDS', FUZZ_SECONDS || '600');
  const files = vitest.state.getPaths().length;
  provide('fuzzing', { seed, path: FUZZ_PATH, ms: (seconds * 1000) / files });
  vitest.logger.log(`Fuzzing ${files} targets for ${seconds} s. To repeat this run: FUZZ_SEED=${seed}`);
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`${name} must be a whole number, but is ${text}.`);
  return Number(text);
}
