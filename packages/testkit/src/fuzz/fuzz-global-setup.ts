import { randomInt } from 'node:crypto';
import { relative } from 'node:path';
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
export async function setup(project: TestProject): Promise<void> {
  const { FUZZ_SEED, FUZZ_PATH = '', FUZZ_SECONDS } = process.env;
  const seed = wholeNumber(project, 'FUZZ_SEED', FUZZ_SEED || String(randomInt(2 ** 31)));
  const seconds = wholeNumber(project, 'FUZZ_SECONDS', FUZZ_SECONDS || '600');
  const files = project.vitest.state.getPaths();
  project.provide('fuzzing', { seed, path: FUZZ_PATH, ms: (seconds * 1000) / files.length });
  const command = await repeatCommand(project, files, { seed, path: FUZZ_PATH, seconds });
  project.vitest.logger.log(`Fuzzing ${files.length} targets for ${seconds} s. To repeat the same cases: ${command}`);
}

async function repeatCommand(
  project: TestProject,
  files: readonly string[],
  { seed, path, seconds }: { readonly seed: number; readonly path: string; readonly seconds: number },
): Promise<string> {
  const { testFiles } = await project.globTestFiles();
  const names = files.length < testFiles.length ? files.map((file) => relative(project.config.root, file)) : [];
  const settings = [`FUZZ_SEED=${seed}`, path && `FUZZ_PATH=${path}`, `FUZZ_SECONDS=${seconds}`].filter(Boolean);
  return [...settings, 'npm run test:fuzz', ...(names.length > 0 ? ['--', ...names] : [])].join(' ');
}

/** Ends the run if `text` is no number: Vitest would print a thrown error with its stack, after "No test files found". */
function wholeNumber({ vitest }: TestProject, name: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  vitest.logger.error(`${name} must be a whole number, but is ${text}.`);
  process.exit(1);
}
