import type { TestProject } from 'vitest/node';
import { findMinio, type MinioSource } from './minio-source.ts';

declare module 'vitest' {
  interface ProvidedContext {
    minioSource: MinioSource | null;
  }
}

/** Vitest's global setup: looks for a MinIO once per run, and warns if there is none. */
export async function setup(project: TestProject): Promise<void> {
  // The `env` of a Vitest project applies to its workers only.
  const env = { ...process.env, ...project.config.env };
  const source = await findMinio(env);
  project.provide('minioSource', source ?? null);
  if (!source && env.REQUIRE_MINIO !== '1') {
    process.stderr.write(
      '\n!!! NO MINIO: its tests are SKIPPED. Give S3_ENDPOINT, a Docker engine, MINIO_BIN, or minio in PATH.\n\n',
    );
  }
}
