import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';

const unitTests = ['{packages,services,tools}/**/!(*.integration).test.ts', 'deploy/**/!(*.integration).test.ts'];
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
    projects: [
      {
        plugins: [buildPictureProgram],
        test: {
          ...limits,
          name: 'system',
          exclude: ['**/node_modules/**', ...unitTests],
          globalSetup: [
            'packages/testkit/src/servers/minio-global-setup.ts',
            'packages/testkit/src/samples/samples-global-setup.ts',
          ],
        },
      },
      // These start no servers and replace no modules, so files may share a process, which halves their processor time.
      { test: { ...limits, name: 'unit', include: unitTests, isolate: false } },
    ],
  },
});
