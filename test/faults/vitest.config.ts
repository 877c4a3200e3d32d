import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { testReporters } from '../../packages/testkit/src/reporters/test-reporters.ts';

const root = resolve(import.meta.dirname, '../..');

// For `npm run test:faults`.
export default defineConfig({
  test: {
    root,
    include: ['test/faults/*.faults.ts'],
    globalSetup: ['packages/testkit/src/samples/samples-global-setup.ts'],
    reporters: testReporters(),
    disableConsoleIntercept: true,
  },
});
