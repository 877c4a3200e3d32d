import { choice, httpOrigin, requiredWhen, requireSet, type Settings, secret, text } from '@echodrop/service/env';
import { FilesystemObjectStore } from './filesystem/filesystem-object-store.ts';
import type { ObjectStore } from './object-store.ts';
import { type StoreOptions, s3ObjectStore } from './s3/s3-object-store.ts';

const bucket = text().refine((name) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name), 'must be a bucket name');

// A header contains the access key, so it has only characters of a header.
const fault = (key: string) => (/^[ -~]+$/.test(key) ? undefined : 'must be one line of ASCII characters');

/** Every process that reads or writes objects needs the same values, except the keys. */
export const storeSettings = {
  OBJECT_STORE: choice(['s3', 'filesystem'], 's3', { minio: 's3' }).describe(
    '`s3` (formerly `minio`) or `filesystem` (`npm start`: `filesystem`)',
  ),
  OBJECT_STORE_DIR: requiredWhen('OBJECT_STORE', 'filesystem', text()).describe('folder of the filesystem store'),
  S3_ENDPOINT: requiredWhen('OBJECT_STORE', 's3', httpOrigin()).describe('URL of the S3 store, without a path'),
  S3_REGION: text('us-east-1')
    .refine((name) => /^[\w.-]+$/.test(name), 'must be a name of letters, digits, dots, hyphens and underscores')
    .describe('region of the S3 store'),
  S3_BUCKET: requiredWhen('OBJECT_STORE', 's3', bucket).describe(
    'bucket; a missing one is created if the keys allow it',
  ),
  S3_ACCESS_KEY: requiredWhen('OBJECT_STORE', 's3', secret({ fault })).describe(
    'access key; use [separate keys for each service](../host/redis-and-store.md#users)',
  ),
  S3_SECRET_KEY: requiredWhen('OBJECT_STORE', 's3', secret()).describe('secret key of the access key'),
};

type StoreSettings = Settings<typeof storeSettings>;

/** Creates the configured store. A folder takes only `onProbed` of the options. */
export async function objectStoreFromSettings(
  settings: StoreSettings,
  options: StoreOptions = {},
): Promise<ObjectStore> {
  if (settings.OBJECT_STORE === 'filesystem')
    return new FilesystemObjectStore(requireSet(settings.OBJECT_STORE_DIR), options.onProbed);
  const address = {
    endpoint: requireSet(settings.S3_ENDPOINT),
    region: settings.S3_REGION,
    bucket: requireSet(settings.S3_BUCKET),
    accessKey: requireSet(settings.S3_ACCESS_KEY),
    secretKey: requireSet(settings.S3_SECRET_KEY),
  };
  return s3ObjectStore(address, options);
}
