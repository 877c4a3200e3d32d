import { describe, inject } from 'vitest';
import './minio-global-setup.ts';
import { type RunningMinio, startMinio } from './start-minio.ts';

/**
 * A `describe` for tests that need a MinIO, which `start` gives them. Where there is none they are skipped, or fail with
 * REQUIRE_MINIO=1. With `stoppable` they are also skipped where the MinIO is not ours to stop.
 */
export function describeWithMinio(
  name: string,
  { stoppable = false }: { stoppable?: boolean },
  tests: (start: () => Promise<RunningMinio>) => void,
): void {
  const source = inject('minioSource');
  const required = process.env.REQUIRE_MINIO === '1';
  const there = source !== null && !(stoppable && source.kind === 'given');
  describe.runIf(there || (required && source === null))(name, () => tests(() => startMinio(source ?? undefined)));
}
