import { glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

// docs/design.md, rule 8: each external dependency has one owner.
const owners = {
  '@opentelemetry/api': 'packages/service',
  '@opentelemetry/context-async-hooks': 'packages/service',
  '@opentelemetry/exporter-trace-otlp-http': 'packages/service',
  '@opentelemetry/exporter-trace-otlp-proto': 'packages/service',
  '@opentelemetry/resources': 'packages/service',
  '@opentelemetry/sdk-node': 'packages/service',
  bullmq: 'packages/queue',
  cockatiel: 'services/auth-verifier',
  'cli-progress': 'packages/client',
  // Two separate command lines.
  commander: ['packages/client', 'services/admin'],
  ioredis: 'packages/service',
  'libheif-js': 'packages/media',
  'lossless-json': 'packages/client',
  minio: 'packages/object-store',
  nanoid: 'packages/record',
  'oauth-1.0a': 'packages/oauth',
  oauth4webapi: 'packages/client',
  // The client is published separately.
  'p-map': ['packages/archive', 'packages/client'],
  pino: 'packages/service',
  'prom-client': 'packages/service',
  'rate-limiter-flexible': 'services/gateway',
  rolldown: 'packages/build',
  sharp: 'packages/media',
  xmlbuilder2: 'packages/record',
};

test.each(Object.entries(owners))('%s is imported by %s only', async (name, owner) => {
  const importers = new Set<string>();
  for await (const file of glob('{packages,services,tools,deploy,test}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules', 'packages/client/dist'],
  })) {
    if (isTestCode(file)) continue;
    const code = (await readFile(join(root, file), 'utf8')).replace(/^import type .*$/gm, '');
    if (new RegExp(`(from|import|import\\() ?'${name}(/[^']*)?'`).test(code))
      importers.add(file.split('/', 2).join('/'));
  }
  expect([...importers].sort()).toEqual([owner].flat());
});

test('only config.ts, entry points and tests read the environment', async () => {
  const readers: string[] = [];
  for await (const file of glob('{packages,services}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules', 'packages/client/dist'],
  })) {
    if (!isTestCode(file) && (await readFile(join(root, file), 'utf8')).includes('process.env')) readers.push(file);
  }
  expect(readers.sort()).toEqual([
    'packages/client/src/cli/main.ts',
    'packages/client/src/local-cli.ts',
    'packages/service/src/run-service.ts',
    'services/admin/src/main.ts',
  ]);
});

function isTestCode(file: string): boolean {
  return /\.(test|fixture)\.ts$|^(test|packages\/(testkit|bench)|tools\/prose-lint)\//.test(file);
}
