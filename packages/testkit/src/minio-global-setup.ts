import type { TestProject } from 'vitest/node';
import { findMinio, type MinioSource } from './minio-source.ts';

declare module 'vitest' {
  interface ProvidedContext {
    minioSource: MinioSource | null;
  }
}

/** Vitest's global setup: looks for a MinIO once for the whole run, and says aloud what is skipped where there is none. */
export async function setup(project: TestProject): Promise<void> {
  const source = await findMinio();
  project.provide('minioSource', source ?? null);
  if (!source && process.env.REQUIRE_MINIO !== '1') {
    process.stderr.write(
      '\n!!! NO MINIO: its tests are SKIPPED. Give S3_ENDPOINT, a Docker engine, MINIO_BIN, or minio in PATH.\n\n',
    );
  }
}
