import { execa } from 'execa';

/** Where tests get a MinIO from. */
export type MinioSource =
  | { readonly kind: 'given'; readonly endpoint: string; readonly accessKey: string; readonly secretKey: string }
  | { readonly kind: 'container' }
  | { readonly kind: 'program'; readonly path: string };

const dockerMs = 5000;

/**
 * Finds a MinIO, in this order: the S3_ENDPOINT that is given (with S3_ACCESS_KEY and S3_SECRET_KEY), a Docker engine that
 * answers, the program in MINIO_BIN or in PATH; undefined where there is none.
 */
export async function findMinio(): Promise<MinioSource | undefined> {
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = process.env;
  if (endpoint && accessKey && secretKey) return { kind: 'given', endpoint, accessKey, secretKey };
  if (await dockerAnswers()) return { kind: 'container' };
  const path = process.env.MINIO_BIN || 'minio';
  const { failed } = await execa(path, ['--version'], { reject: false });
  return failed ? undefined : { kind: 'program', path };
}

async function dockerAnswers(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const asked = getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  return Promise.race([asked, new Promise<false>((resolve) => setTimeout(resolve, dockerMs, false).unref())]);
}
