import { mkdtempDisposable } from 'node:fs/promises';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { s3ObjectStore } from '@echodrop/object-store/s3/s3-object-store';
import { Secret } from '@echodrop/service/secret';
import type { Bench } from './scenario.ts';
import type { System } from './systems.ts';

/** A store that a site reads. */
export interface ReadStore extends AsyncDisposable {
  readonly kind: 'folder' | 'S3';
  /** The settings of services for this store. */
  readonly settings: Record<string, string>;
  readonly open: (system: System) => ObjectStore;
}

/** A folder, and the null S3. */
export const readStores = [openFolder, openNullS3] as const;

async function openFolder({ shared }: Bench): Promise<ReadStore> {
  const folder = await mkdtempDisposable(join(shared.folder, 'reading-'));
  return {
    kind: 'folder',
    settings: { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: folder.path },
    open: () => new FilesystemObjectStore(folder.path),
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}

async function openNullS3({ shared }: Bench): Promise<ReadStore> {
  const { S3_ENDPOINT: endpoint = '', S3_ACCESS_KEY = '', S3_SECRET_KEY = '' } = shared.env;
  const keys = { accessKey: new Secret(S3_ACCESS_KEY), secretKey: new Secret(S3_SECRET_KEY) };
  return {
    kind: 'S3',
    settings: {},
    open: ({ bucket }) => s3ObjectStore({ endpoint, region: 'us-east-1', bucket, ...keys }),
    async [Symbol.asyncDispose]() {},
  };
}
