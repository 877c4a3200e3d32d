import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';

const unitTests = ['{packages,services,tools}/**/!(*.integration).test.ts', 'deploy/**/!(*.integration).test.ts'];
// They start programs and services, and set nothing for their own process: tests that set how media tools run do, and are left out.
const sharingTests = [
  'test/*.test.ts',
  '{deploy,tools}/**/*.integration.test.ts',
  'services/{admin,probe-worker,site}/**/*.integration.test.ts',
  'packages/{bench,build,client,contracts,identity-provider,testkit}/**/*.integration.test.ts',
  'packages/media/src/*.integration.test.ts',
  'packages/media/src/!(sandbox)/!(ffprobe-bounds|picture-process).integration.test.ts',
];
const limits = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 15_000 } } };

// Renditions start this program for each photo, which takes four times as long from source. Images run it built, too.
const source = `fileURLToPath(new URL('picture-program.ts', import.meta.url))`;
const built = `(await (await import('@echodrop/testkit/built-service')).builtProgram('picture-program', ${source})).path`;
const buildPictureProgram: Plugin = {
  name: 'build-picture-program',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/picture-process.ts') ? code.replace(source, built) : null),
};

export default defineConfig({
  test: {
    // Many tests wait for processes and deadlines: two files per core keep the cores busy.
    maxWorkers: 2 * availableParallelism(),
    globalSetup: [
      'packages/testkit/src/servers/minio-global-setup.ts',
      'packages/testkit/src/samples/samples-global-setup.ts',
    ],
    projects: [
      {
        plugins: [buildPictureProgram],
        test: { ...limits, name: 'system', exclude: ['**/node_modules/**', ...unitTests, ...sharingTests] },
      },
      // These replace no modules and change no state of their process, so files may share one, which saves its start.
      {
        plugins: [buildPictureProgram],
        test: { ...limits, name: 'sharing', include: sharingTests, isolate: false },
      },
      { test: { ...limits, name: 'unit', include: unitTests, isolate: false } },
    ],
  },
});
