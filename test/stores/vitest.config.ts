import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { testTimeouts } from '../../packages/testkit/src/patience.ts';
import { testReporters } from '../../packages/testkit/src/reporters/test-reporters.ts';

// For `npm run test:stores`: a whole system on each object store that is found.
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '../..'),
    include: ['test/stores/*.stores.ts'],
    globalSetup: ['packages/testkit/src/samples/samples-global-setup.ts'],
    reporters: testReporters(),
    // Each file starts a whole system, and waits half of its time.
    maxWorkers: 2,
    ...testTimeouts,
  },
});
