import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: [
      'packages/testkit/src/servers/minio-global-setup.ts',
      'packages/testkit/src/samples/samples-global-setup.ts',
    ],
    // Many tests wait for deadlines: one file more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
