import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { testTimeouts } from '../../packages/testkit/src/patience.ts';
import { testReporters } from '../../packages/testkit/src/reporters/test-reporters.ts';

// For `npm run test:clients`: clients that must be compiled first, and proxies of distributions.
export default defineConfig({
  test: {
    root: resolve(import.meta.dirname, '../..'),
    include: ['test/clients/*.clients.ts'],
    globalSetup: ['packages/testkit/src/samples/samples-global-setup.ts'],
    reporters: testReporters(),
    // Each file starts a whole system.
    fileParallelism: false,
    ...testTimeouts,
  },
});
