import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@echodrop/testkit/free-ports';
import { describeStore } from './describe-store.ts';
import { canRun, notes } from './store-kind.ts';

/** The jar that `mvn dependency:copy-dependencies` copies (s3mock/pom.xml). */
const s3mockJar = join(import.meta.dirname, '../../node_modules/.cache/s3mock/s3mock-exec.jar');

await describeStore({
  name: 's3mock',
  from: 'apt-get install default-jre-headless maven, then mvn -f test/stores/s3mock dependency:copy-dependencies',
  find: async () =>
    existsSync(s3mockJar) && (await canRun('java', '-version'))
      ? ['java', '-XX:TieredStopAtLevel=1', '-jar', s3mockJar]
      : undefined,
  prepare: async ({ port, folder }) => ({
    args: [
      '--server.address=127.0.0.1',
      `--server.port=${await freePort()}`,
      `--com.adobe.testing.s3mock.http-port=${port}`,
      `--com.adobe.testing.s3mock.store.root=${join(folder, 'store')}`,
    ],
  }),
  // After the last folder of a page it lists that folder again.
  findings: [notes.otherReason, 'Listing folders failed'],
  possibleFindings: [notes.noConditions],
  // It can retain its files, but then responds with 500 after a restart.
  isInMemory: true,
});
