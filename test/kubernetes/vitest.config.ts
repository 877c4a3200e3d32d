import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { testReporters } from '../../packages/testkit/src/reporters/test-reporters.ts';

const root = resolve(import.meta.dirname, '../..');

// For `npm run test:kubernetes`: the overlays `small` and `ha` in a real cluster (cluster.ts). Needs Docker for the images.
export default defineConfig({
  test: {
    root,
    include: ['test/kubernetes/*.kubernetes.ts'],
    globalSetup: ['packages/testkit/src/samples/samples-global-setup.ts', 'test/kubernetes/cluster-setup.ts'],
    reporters: testReporters(),
    fileParallelism: false,
    testTimeout: 15 * 60_000,
    hookTimeout: 15 * 60_000,
  },
});
