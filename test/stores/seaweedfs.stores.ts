import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { describeStore } from './describe-store.ts';
import { keys, notes, programOf } from './store-kind.ts';

await describeStore({
  name: 'SeaweedFS',
  from: 'build github.com/seaweedfs/seaweedfs/weed with Go, and set WEED_BIN or PATH',
  find: () => programOf('WEED_BIN', 'weed'),
  prepare: async ({ port, folder }) => {
    const identity = { name: 'test', credentials: [keys], actions: ['Admin', 'Read', 'List', 'Tagging', 'Write'] };
    const config = join(folder, 's3.json');
    await writeFile(config, JSON.stringify({ identities: [identity] }));
    const servers = ['master', 'volume', 'filer', 's3'];
    const ports = await Promise.all(
      servers.map(async (server) => [
        `-${server}.port=${server === 's3' ? port : await freePort()}`,
        `-${server}.port.grpc=${await freePort()}`,
      ]),
    );
    const sizes = ['-volume.max=20', '-master.volumeSizeLimitMB=256'];
    const address = ['-ip=127.0.0.1', '-ip.bind=127.0.0.1', `-dir=${folder}`];
    return { args: ['server', '-filer', '-s3', `-s3.config=${config}`, ...address, ...ports.flat(), ...sizes] };
  },
  findings: [notes.keptPart],
  writesLate: true,
});
