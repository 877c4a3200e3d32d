import { describe, expect, inject, test } from 'vitest';
import './minio-global-setup.ts';
import { type RunningMinio, shareMinio, startMinio } from './start-minio.ts';

/**
 * A `describe` for tests that need a MinIO. Without one they are skipped, or fail if REQUIRE_MINIO=1. If `stoppable`,
 * each start is a MinIO of its own, and they are also skipped if tests cannot stop it.
 */
export function describeWithMinio(
  name: string,
  { stoppable = false }: { stoppable?: boolean },
  tests: (start: () => Promise<RunningMinio>) => void,
): void {
  const source = inject('minioSource');
  if (source === null && process.env.REQUIRE_MINIO === '1') {
    test(name, () => expect.fail('REQUIRE_MINIO=1, but there is no MinIO'));
    return;
  }
  const usable = source !== null && !(stoppable && source.kind === 'given');
  const start = stoppable ? startMinio : shareMinio;
  describe.runIf(usable)(name, () => tests(() => start(source ?? undefined)));
}

/** As `describeWithMinio`, for tests that start MinIO themselves: skipped without a MinIO program on this machine. */
export function describeWithMinioProgram(name: string, tests: (path: string) => void): void {
  const source = inject('minioSource');
  const path = source?.kind === 'program' ? source.path : undefined;
  describe.runIf(path !== undefined)(name, () => tests(path ?? ''));
}
