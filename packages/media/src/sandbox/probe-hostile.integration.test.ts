import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hostileMedia } from '@echodrop/testkit/hostile/hostile-media';
import { hostilePhotos } from '@echodrop/testkit/hostile/hostile-photos';
import { writeHostile } from '@echodrop/testkit/hostile/hostile-sample';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FileProbe, ProbeReport } from './probe-files.fixture.ts';
import { expectOutOfReach, filesOpenedBy, hasStrace, prepareRun, type Run } from './traced-run.fixture.ts';

const MiB = 2 ** 20;
let run: Run;
let report: ProbeReport;
let calls: readonly string[];

beforeAll(async () => {
  run = await prepareRun();
  await writeHostile(run.media, hostileMedia, run.canary);
  const traced = await run.trace('probe-files.fixture.ts');
  report = JSON.parse(traced.printed);
  calls = traced.calls;
});
afterAll(() => run?.[Symbol.asyncDispose]());

test.each(hostileMedia.map((media, n) => ({ ...media, n, maxSeconds: hostilePhotos.includes(media) ? 2 : 5 })))(
  '$name: $found',
  ({ found, n, maxSeconds }) => {
    const probe = report.probes[n] as FileProbe;
    if (found === 'refused') expect(probe.isMedia).toBe(false);
    else expect(probe.found).toBe(found);
    expect(probe.cpuSeconds).toBeLessThan(maxSeconds);
    expect(probe.bytesRead).toBeLessThan(64 * MiB);
    expect(probe.longestRead).toBeLessThanOrEqual(8 * MiB);
  },
);

test('hostile media takes little memory and leaves no files', async () => {
  expect(report.grownBy).toBeLessThan(100 * MiB);
  expect(await readdir(run.scratch)).toEqual([]);
});

test('hostile media never makes a probe read a file or use a server that it names', async () => {
  expect(await run.canary.touched()).toEqual([]);
});

test(
  'hostile media never makes a probe process open a socket, or any file but its input',
  unlessMissing({ strace: hasStrace }),
  async () => {
    expectOutOfReach(run.canary, calls);
    const opened = filesOpenedBy('ffprobe', calls);
    expect(opened.length).toBeGreaterThan(40);
    expect(opened.filter((path) => !path.startsWith(join(run.scratch, 'video-')))).toEqual([]);
  },
);
