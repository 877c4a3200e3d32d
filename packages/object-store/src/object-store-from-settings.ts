import { choice, httpAddress, requiredWhen, type Settings, secret, text } from '@echodrop/service/env';
import { FilesystemObjectStore } from './filesystem/filesystem-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import type { PartMemory } from './part-memory.ts';

const endpoint = httpAddress().refine(
  (address) => new URL(address).pathname === '/',
  'must be an http(s) address without a path',
);
const bucket = text().refine((name) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name), 'must be the name of a bucket');

/** Where objects lie; every process that reads or writes them must have the same. */
export const storeSettings = {
  OBJECT_STORE: choice(['minio', 'filesystem'], 'minio'),
  OBJECT_STORE_DIR: requiredWhen('OBJECT_STORE', 'filesystem', text()),
  S3_ENDPOINT: requiredWhen('OBJECT_STORE', 'minio', endpoint),
  S3_REGION: text('us-east-1'),
  S3_BUCKET: requiredWhen('OBJECT_STORE', 'minio', bucket),
  S3_ACCESS_KEY: requiredWhen('OBJECT_STORE', 'minio', secret()),
  S3_SECRET_KEY: requiredWhen('OBJECT_STORE', 'minio', secret()),
};

export type StoreSettings = Settings<typeof storeSettings>;

/**
 * The store that the settings name; only then is its client loaded, which for MinIO is a third of a worker's start. `memory` is for
 * the process that takes uploads in; others need none of their own.
 */
export async function objectStoreFromSettings(settings: StoreSettings, memory?: PartMemory): Promise<ObjectStore> {
  if (settings.OBJECT_STORE === 'filesystem') return new FilesystemObjectStore(given(settings.OBJECT_STORE_DIR));
  const address = {
    endpoint: given(settings.S3_ENDPOINT),
    region: settings.S3_REGION,
    bucket: given(settings.S3_BUCKET),
    accessKey: given(settings.S3_ACCESS_KEY),
    secretKey: given(settings.S3_SECRET_KEY),
  };
  const { MinioObjectStore } = await import('./s3/minio-object-store.ts');
  return new MinioObjectStore(address, { memory });
}

// readSettings has told the operator already; this is for settings that did not come from it.
function given<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('a setting of the object store is missing');
  return value;
}
