import type { TestProject } from 'vitest/node';
import { findMinio, type MinioSource } from './minio-source.ts';

declare module 'vitest' {
  interface ProvidedContext {
    minioSource: MinioSource | null;
  }
}

/** Vitest's global setup: looks for a MinIO once per run. */
export async function setup(project: TestProject): Promise<void> {
  // The `env` of a Vitest project applies to its workers only.
  const env = { ...process.env, ...project.config.env };
  project.provide('minioSource', (await findMinio(env)) ?? null);
}
