import { Secret } from '@echodrop/service/secret';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import type { ObjectStore } from '../object-store.ts';
import { defaultDeadlines, type StoreDeadlines } from './deadlines.ts';
import { minioObjectStore, type StoreOptions } from './minio-object-store.ts';

interface Options extends Omit<StoreOptions, 'deadlines'> {
  readonly deadlines?: Partial<StoreDeadlines>;
}

/** A store in the bucket of a test's MinIO. */
export function minioStore(minio: RunningMinio, { deadlines, ...options }: Options = {}): ObjectStore {
  const { endpoint, region, bucket } = minio;
  const accessKey = new Secret(minio.accessKey);
  const secretKey = new Secret(minio.secretKey);
  return minioObjectStore(
    { endpoint, region, bucket, accessKey, secretKey },
    { ...options, deadlines: { ...defaultDeadlines, ...deadlines } },
  );
}
