import { Secret } from '@echodrop/service/secret';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import type { PartMemory } from '../part-memory.ts';
import { MinioObjectStore } from './minio-object-store.ts';
import { defaultDeadlines, type StoreDeadlines } from './store-deadlines.ts';

interface Means {
  readonly memory?: PartMemory;
  readonly deadlines?: Partial<StoreDeadlines>;
}

/** A store on the bucket of a MinIO that a test has started. */
export function minioStore(minio: RunningMinio, { memory, deadlines }: Means = {}): MinioObjectStore {
  const { endpoint, region, bucket } = minio;
  const accessKey = new Secret(minio.accessKey);
  const secretKey = new Secret(minio.secretKey);
  return new MinioObjectStore(
    { endpoint, region, bucket, accessKey, secretKey },
    { memory, deadlines: { ...defaultDeadlines, ...deadlines } },
  );
}
