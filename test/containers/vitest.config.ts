import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { testTimeouts } from '../../packages/testkit/src/patience.ts';
import { testReporters } from '../../packages/testkit/src/reporters/test-reporters.ts';

const root = resolve(import.meta.dirname, '../..');

// For `npm run test:containers`: the images and the Compose system, and the suites for Redis and MinIO with both in
// containers (Testcontainers). Needs a Docker engine with Compose and Buildx.
export default defineConfig({
  test: {
    root,
    reporters: testReporters(),
    // Each file starts a whole system.
    fileParallelism: false,
    ...testTimeouts,
    projects: [
      {
        extends: true,
        test: {
          name: 'compose',
          include: ['test/containers/*.containers.ts'],
          globalSetup: ['test/containers/build-images.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'testcontainers',
          include: [
            'packages/object-store/src/s3/{minio,multipart}*.integration.test.ts',
            'packages/queue/src/{queue,queue-faults}.integration.test.ts',
          ],
          globalSetup: [
            'packages/testkit/src/servers/minio-global-setup.ts',
            'packages/testkit/src/samples/samples-global-setup.ts',
          ],
          // These tests also run in `npm test`, with the same set-up.
          setupFiles: ['packages/testkit/src/restore-process.ts'],
          restoreMocks: true,
          env: { REQUIRE_CONTAINERS: '1', REQUIRE_MINIO: '1' },
        },
      },
    ],
  },
});
