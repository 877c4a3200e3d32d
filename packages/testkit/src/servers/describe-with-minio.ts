import { describe, inject } from 'vitest';
import { unlessMissing } from '../unless-missing.ts';
import './minio-global-setup.ts';
import { type RunningMinio, shareMinio, startMinio } from './start-minio.ts';

/**
 * A `describe` for tests that need a MinIO. Without one they are skipped, or fail if REQUIRE_MINIO=1. If `stoppable`,
 * each start is a MinIO of its own.
 */
export function describeWithMinio(
  name: string,
  { stoppable = false }: { stoppable?: boolean },
  tests: (start: () => Promise<RunningMinio>) => void,
): void {
  const source = inject('minioSource');
  const start = stoppable ? startMinio : shareMinio;
  describe(name, unlessMissing({ MinIO: source !== null }), () => tests(() => start(source ?? undefined)));
}

/** As `describeWithMinio`, for tests that start the program themselves: skipped without one on this machine. */
export function describeWithMinioProgram(name: string, tests: (path: string) => void): void {
  const source = inject('minioSource');
  const path = source?.kind === 'program' ? source.path : undefined;
  describe(name, unlessMissing({ 'a MinIO program': path !== undefined }), () => tests(path ?? ''));
}
