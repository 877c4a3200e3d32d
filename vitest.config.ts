import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['packages/testkit/src/minio-global-setup.ts'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
