import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { defineConfig } from 'vitest/config';
import { buildPictureProgram } from './packages/testkit/src/build-picture-program.ts';
import { testTimeouts } from './packages/testkit/src/patience.ts';
import { testReporters } from './packages/testkit/src/reporters/test-reporters.ts';
import { testCache } from './packages/testkit/src/test-cache.ts';

// Each of these needs its own process. It replaces modules, sets how media tools run, or leaves a gigabyte of bundler memory.
const isolatedTests = [
  'packages/{build/src/build,client/src/package}.integration.test.ts',
  'packages/media/src/{sandbox/{prepare-tools,run-tool,sandbox},video-layout/ffprobe}.integration.test.ts',
  'packages/object-store/src/filesystem/no-{directory-sync,hard-links}.integration.test.ts',
  'services/rendition-worker/src/{lanes,refused-output}.integration.test.ts',
];
// These start hundreds of programs, which takes longer from a process with the memory of other tests.
const mediaTests = ['packages/media/src/**/*.integration.test.ts'];
const base = {
  ...testTimeouts,
  setupFiles: ['packages/testkit/src/restore-process.ts'],
  restoreMocks: true,
};

// Of this machine or container.
const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

// Tests write and sync many files, which takes a tenth less processor time in memory. A run needs less than a gigabyte; other programs use this memory too.
const memory = '/dev/shm';
const isUsable = () => {
  const [mount = 'noexec'] = /^tmpfs \/dev\/shm .*$/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? [];
  if (/\bnoexec\b/.test(mount)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return Math.min(bavail * bsize, process.availableMemory()) > 4 * 2 ** 30;
};
if (process.platform === 'linux' && !process.env['TMPDIR'] && isUsable()) process.env['TMPDIR'] = memory;

// Starting a program takes longer from a large process. This makes malloc return freed memory sooner (`restore-process.ts`).
process.env['MALLOC_TRIM_THRESHOLD_'] = String(64 * 1024);

export default defineConfig({
  // All clones share the durations of test files, for their order.
  cacheDir: testCache('results'),
  test: {
    reporters: testReporters(),
    // Without these flags V8 collects the whole heap after every 32 MiB of buffers, and while a test waits. They save a twelfth of a run's
    // processor time.
    execArgv: ['--external-memory-accounted-in-global-limit', '--no-memory-reducer'],
    // Two files per core, because many tests wait. Three take a twelfth more processor time and end no sooner.
    // Each takes up to a gigabyte, with the programs that it starts.
    maxWorkers: Math.max(1, Math.min(2 * availableParallelism(), Math.floor(memoryBytes / (1.5 * 2 ** 30)))),
    globalSetup: [
      'packages/testkit/src/servers/minio-global-setup.ts',
      'packages/testkit/src/samples/samples-global-setup.ts',
    ],
    projects: [
      { plugins: [buildPictureProgram], test: { ...base, name: 'isolated', include: isolatedTests } },
      // The other files replace no modules, so they share processes. This saves the start of one per file.
      {
        plugins: [buildPictureProgram],
        test: { ...base, name: 'media', include: mediaTests, exclude: isolatedTests, isolate: false },
      },
      {
        plugins: [buildPictureProgram],
        test: {
          ...base,
          name: 'shared',
          exclude: ['**/node_modules/**', ...isolatedTests, ...mediaTests],
          isolate: false,
        },
      },
    ],
  },
});
