import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import type { ObjectStore } from '../object-store.ts';
import { defaultDeadlines, type StoreDeadlines } from './deadlines.ts';
import { type StoreOptions, s3ObjectStore } from './s3-object-store.ts';

/** For a MinIO that responds. */
export const patientDeadlines: StoreDeadlines = {
  ...defaultDeadlines,
  callMs: patienceMs,
  writeMs: patienceMs,
  idleMs: patienceMs,
};

/** A store in the bucket of a test's MinIO. */
export function minioStore(
  minio: Omit<RunningMinio, 'server' | 'settings' | typeof Symbol.asyncDispose>,
  { deadlines = patientDeadlines, ...options }: StoreOptions = {},
): ObjectStore {
  const { endpoint, region, bucket } = minio;
  const accessKey = new Secret(minio.accessKey);
  const secretKey = new Secret(minio.secretKey);
  return s3ObjectStore({ endpoint, region, bucket, accessKey, secretKey }, { ...options, deadlines });
}
