import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type Plugin } from 'vitest/config';
import { pictureProgramInSource } from './packages/testkit/src/built-picture-program.ts';
import { patienceMs } from './packages/testkit/src/patience.ts';
import { testReporters } from './packages/testkit/src/reporters/test-reporters.ts';
import { testCache } from './packages/testkit/src/test-cache.ts';

// These set how media tools run, for their whole process, start hundreds of programs, or leave a gigabyte of the bundler.
const isolatedTests = [
  'packages/{build/src/build,client/src/package}.integration.test.ts',
  'packages/media/src/**/*.integration.test.ts',
  'services/rendition-worker/src/{lanes,refused-output}.integration.test.ts',
];
const shared = {
  ...{ testTimeout: 3 * patienceMs, hookTimeout: 3 * patienceMs, expect: { poll: { timeout: patienceMs } } },
  ...{ setupFiles: ['packages/testkit/src/restore-process.ts'], restoreMocks: true },
};

// Tests write and sync many files, which takes a tenth less processor time in memory. They need less than a gigabyte.
const memory = '/dev/shm';
const isUsable = () => {
  const [mount = 'noexec'] = /^tmpfs \/dev\/shm .*$/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
  if (/\bnoexec\b/.test(mount)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 4 * 2 ** 30;
};
if (process.platform === 'linux' && !process.env['TMPDIR'] && isUsable()) process.env['TMPDIR'] = memory;

// Starting a program copies the page tables of its parent, so test processes return freed memory (`restore-process.ts`).
process.env['MALLOC_TRIM_THRESHOLD_'] = String(64 * 1024);

// Renditions start this program for each photo.
const built = `(await (await import('@echodrop/testkit/built-picture-program')).builtPictureProgram())`;
const buildPictureProgram: Plugin = {
  name: 'build-picture-program',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/picture-process.ts') ? code.replace(pictureProgramInSource, built) : null),
};

export default defineConfig({
  // All clones share the durations of test files, for their order and for the time left.
  cacheDir: testCache('results'),
  test: {
    reporters: testReporters(),
    // Test processes have large heaps, and requests with media pass through short-lived buffers. V8 would collect the whole heap after every
    // 32 MiB of buffers, and again while a test waits: a twelfth of the processor time of a run.
    execArgv: ['--external-memory-accounted-in-global-limit', '--no-memory-reducer'],
    // Many tests wait. Three files per core take a twelfth more processor time, and end no sooner.
    maxWorkers: 2 * availableParallelism(),
    globalSetup: [
      'packages/testkit/src/servers/minio-global-setup.ts',
      'packages/testkit/src/samples/samples-global-setup.ts',
    ],
    projects: [
      { plugins: [buildPictureProgram], test: { ...shared, name: 'isolated', include: isolatedTests } },
      // The others replace no modules, so files may share a process, which saves its start.
      {
        plugins: [buildPictureProgram],
        test: { ...shared, name: 'shared', exclude: ['**/node_modules/**', ...isolatedTests], isolate: false },
      },
    ],
  },
});
