import { execa } from 'execa';
import { patienceMs } from '../patience.ts';

export type MinioSource = { readonly kind: 'container' } | { readonly kind: 'program'; readonly path: string };

/**
 * Finds a MinIO, in this order: the program MINIO_BIN, `minio` in PATH, a Docker engine; undefined if there is none. With
 * REQUIRE_CONTAINERS=1, only a Docker engine.
 * @throws Error if MINIO_BIN does not run
 */
export async function findMinio(
  env: Record<string, string | undefined> = process.env,
): Promise<MinioSource | undefined> {
  if (env.REQUIRE_CONTAINERS === '1') return { kind: 'container' };
  const { MINIO_BIN: named } = env;
  const path = named || 'minio';
  const { failed, shortMessage } = await execa(path, ['--version'], { reject: false });
  if (!failed) return { kind: 'program', path };
  if (named) throw new Error(`MINIO_BIN does not run: ${shortMessage}`);
  return (await dockerResponds()) ? { kind: 'container' } : undefined;
}

async function dockerResponds(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const responds = getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  return Promise.race([responds, new Promise<false>((resolve) => setTimeout(resolve, patienceMs, false).unref())]);
}
