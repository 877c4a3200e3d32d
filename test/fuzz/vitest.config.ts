import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { buildPictureProgram } from '../../packages/testkit/src/build-picture-program.ts';
import { testTimeouts } from '../../packages/testkit/src/patience.ts';
import { testReporters } from '../../packages/testkit/src/reporters/test-reporters.ts';

// For `npm run test:fuzz`: random hostile input. The fuzzers are next to the code that they test.
export default defineConfig({
  plugins: [buildPictureProgram],
  test: {
    root: resolve(import.meta.dirname, '../..'),
    include: ['{packages,services,test}/**/*.fuzz.ts'],
    globalSetup: [
      // First: it ends the run if a setting is wrong.
      'packages/testkit/src/fuzz/fuzz-global-setup.ts',
      'packages/testkit/src/samples/samples-global-setup.ts',
    ],
    setupFiles: ['packages/testkit/src/restore-process.ts'],
    reporters: testReporters(),
    disableConsoleIntercept: true,
    // A fuzzer measures the processor time and memory of its process.
    fileParallelism: false,
    ...testTimeouts,
  },
});
