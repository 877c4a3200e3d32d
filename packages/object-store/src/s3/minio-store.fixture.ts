import { Secret } from '@echodrop/service/secret';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import type { PartMemory } from '../part-memory.ts';
import { defaultDeadlines, type StoreDeadlines } from './deadlines.ts';
import { MinioObjectStore } from './minio-object-store.ts';

interface Options {
  readonly memory?: PartMemory;
  readonly deadlines?: Partial<StoreDeadlines>;
}

/** A store in the bucket of a test's MinIO. */
export function minioStore(minio: RunningMinio, { memory, deadlines }: Options = {}): MinioObjectStore {
  const { endpoint, region, bucket } = minio;
  const accessKey = new Secret(minio.accessKey);
  const secretKey = new Secret(minio.secretKey);
  return new MinioObjectStore(
    { endpoint, region, bucket, accessKey, secretKey },
    { memory, deadlines: { ...defaultDeadlines, ...deadlines } },
  );
}
