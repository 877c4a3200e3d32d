import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { describeStore } from './describe-store.ts';
import { keys, notes, programOf } from './store-kind.ts';

const region = 'garage';

await describeStore({
  name: 'Garage',
  from: 'cargo install --locked garage, and set GARAGE_BIN or PATH',
  find: () => programOf('GARAGE_BIN', 'garage'),
  region,
  prepare: async ({ port, folder }) => {
    const rpc = `127.0.0.1:${await freePort()}`;
    const config = [
      `metadata_dir = "${folder}/meta"`,
      `data_dir = "${folder}/data"`,
      'db_engine = "sqlite"',
      'replication_factor = 1',
      `rpc_bind_addr = "${rpc}"`,
      `rpc_public_addr = "${rpc}"`,
      `rpc_secret = "${keys.secretKey}"`,
      '[s3_api]',
      `s3_region = "${region}"`,
      `api_bind_addr = "127.0.0.1:${port}"`,
    ];
    const path = join(folder, 'garage.toml');
    await writeFile(path, config.join('\n'));
    return {
      args: ['-c', path, 'server', '--single-node', '--default-access-key'],
      env: { GARAGE_DEFAULT_ACCESS_KEY: keys.accessKey, GARAGE_DEFAULT_SECRET_KEY: keys.secretKey },
    };
  },
  findings: [notes.noConditions],
});
