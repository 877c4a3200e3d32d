import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['packages/testkit/src/minio-global-setup.ts'],
    // Many tests wait for deadlines: one file more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
