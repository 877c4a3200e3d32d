import type { TestProject } from 'vitest/node';
import { findMinio, type MinioSource } from './minio-source.ts';

declare module 'vitest' {
  interface ProvidedContext {
    minioSource: MinioSource | null;
  }
}

/** Vitest's global setup: looks for a MinIO once per run, and warns if there is none. */
export async function setup(project: TestProject): Promise<void> {
  // The environment that a project of Vitest's is given holds for its workers, and not here.
  const env = { ...process.env, ...project.config.env };
  const source = await findMinio(env);
  project.provide('minioSource', source ?? null);
  if (!source && env.REQUIRE_MINIO !== '1') {
    process.stderr.write(
      '\n!!! NO MINIO: its tests are SKIPPED. Give S3_ENDPOINT, a Docker engine, MINIO_BIN, or minio in PATH.\n\n',
    );
  }
}
