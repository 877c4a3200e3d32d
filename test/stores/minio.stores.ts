import { findMinio } from '@echodrop/testkit/servers/minio-source';
import { describeStore } from './describe-store.ts';
import { keys, notes, type StoreKind } from './store-kind.ts';

const minio: StoreKind = {
  name: 'MinIO',
  from: 'set MINIO_BIN to a MinIO program, or put minio in PATH',
  find: async () => {
    const source = await findMinio();
    return source?.kind === 'program' ? [source.path] : undefined;
  },
  prepare: async ({ port, folder }) => ({
    args: ['server', folder, '--address', `127.0.0.1:${port}`, '--quiet'],
    env: {
      MINIO_ROOT_USER: keys.accessKey,
      MINIO_ROOT_PASSWORD: keys.secretKey,
      MINIO_BROWSER: 'off',
      MINIO_CI_CD: '1',
      _MINIO_SERVER_LOCAL: `127.0.0.1:${port}`,
    },
  }),
};

await describeStore(minio);

await describeStore({
  ...minio,
  name: 'MinIO with habits of Cloudflare R2',
  habits: ['refuses second writes', 'wants equal parts'],
  findings: [notes.oneWrite, notes.equalParts],
});

await describeStore({
  ...minio,
  name: 'MinIO with habits of Backblaze B2',
  habits: ['refuses checksums'],
  findings: [notes.md5],
});

await describeStore({
  ...minio,
  name: 'MinIO with habits of Garage',
  habits: ['ignores conditions'],
  findings: [notes.noConditions],
});
