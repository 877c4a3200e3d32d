import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeStore } from './describe-store.ts';
import { keys, programOf } from './store-kind.ts';

await describeStore({
  name: 'VersityGW',
  from: 'go install github.com/versity/versitygw/cmd/versitygw@latest, and set VERSITYGW_BIN or PATH',
  find: () => programOf('VERSITYGW_BIN', 'versitygw'),
  prepare: async ({ port, folder }) => {
    const bucketFolder = join(folder, 'buckets');
    const sidecar = join(folder, 'sidecar');
    for (const path of [bucketFolder, sidecar]) await mkdir(path);
    const login = ['--access', keys.accessKey, '--secret', keys.secretKey];
    return { args: ['--port', `127.0.0.1:${port}`, ...login, 'posix', '--sidecar', sidecar, bucketFolder] };
  },
});
