import { glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

// docs/why/code.md, rule 8: each external dependency has one owner.
const owners = {
  '@opentelemetry/api': 'packages/service',
  '@opentelemetry/context-async-hooks': 'packages/service',
  '@opentelemetry/exporter-trace-otlp-proto': 'packages/service',
  '@opentelemetry/resources': 'packages/service',
  '@opentelemetry/sdk-node': 'packages/service',
  bullmq: 'packages/queue',
  'cli-progress': 'packages/client',
  // Two separate command lines.
  commander: ['packages/client', 'services/admin'],
  'fast-xml-parser': 'packages/object-store',
  ioredis: 'packages/service',
  'libheif-js': 'packages/media',
  'lossless-json': 'packages/client',
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

const isTestCode = /\.(test|fixture|fuzz)\.ts$|^(test|packages\/(testkit|bench)|tools\/prose-lint)\//;
const exclude = ['**/node_modules', 'packages/client/dist'];
const files = (await Array.fromAsync(glob('{packages,services,tools,deploy,test}/**/*.ts', { cwd: root, exclude })))
  .filter((file) => !isTestCode.test(file))
  .sort();
const sources = await Promise.all(
  files.map(async (file) => ({ file, code: await readFile(join(root, file), 'utf8') })),
);

test.each(Object.entries(owners))('%s is imported by %s only', (name, owner) => {
  const importing = new RegExp(`(from|import|import\\() ?'${name}(/[^']*)?'`);
  const importers = sources.filter(({ code }) => importing.test(code.replace(/^import type .*$/gm, '')));
  expect([...new Set(importers.map(({ file }) => file.split('/', 2).join('/')))]).toEqual([owner].flat());
});

test('only redis-names.ts makes names of keys and channels in Redis', () => {
  const makers = sources.filter(
    ({ file, code }) => /^(packages|services)\//.test(file) && /['"`]\{?echodrop[:}]/.test(code),
  );
  expect(makers.map(({ file }) => file)).toEqual([]);
});

// Each of them escapes what it writes, or writes text of our own.
test('only files that escape foreign text write to the standard streams', () => {
  const writers = sources.filter(
    ({ file, code }) =>
      /^(packages|services)\//.test(file) &&
      /\bconsole\.|\bprocess\.(stdout|stderr)\b|\bdestination\(|\{.*\bstdout\b.*\} = process\b/.test(code),
  );
  expect(writers.map(({ file }) => file)).toEqual([
    'packages/build/src/build-client.ts',
    'packages/client/src/cli/process-streams.ts',
    'packages/client/src/local-cli.ts',
    'packages/media/src/render-picture/picture-program.ts',
    'packages/service/src/log.ts',
    'packages/service/src/run-service.ts',
    'services/admin/src/main.ts',
    'services/sandbox-provider/src/main.ts',
  ]);
});

test('only config.ts, entry points and tests read the environment', () => {
  const readers = sources.filter(
    ({ file, code }) => /^(packages|services)\//.test(file) && code.includes('process.env'),
  );
  expect(readers.map(({ file }) => file)).toEqual([
    'packages/build/src/build-client.ts',
    'packages/client/src/cli/main.ts',
    'packages/client/src/local-cli.ts',
    'packages/service/src/run-service.ts',
    'services/admin/src/main.ts',
  ]);
});
