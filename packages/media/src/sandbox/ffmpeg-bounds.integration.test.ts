import { holdDeadline } from '@echodrop/testkit/hostile/held-deadline';
import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { patientSignal } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, expect, test } from 'vitest';
import { runFfmpeg } from './ffmpeg.ts';
import { setSandboxMode } from './sandbox.ts';

// The full sandbox forbids a shell script to start programs.
setSandboxMode('limits-only');

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

const seconds = 1000;
const limits = { seconds, cpuSeconds: 1, addressBytes: 2 ** 30, fileBytes: 2 ** 20, maxPixels: 1e8 };
const nothing = { input: [], output: [] };

/** An ffmpeg, and a run of it in which `count` processes have started. */
async function startedFfmpeg(script: string, count: number, others: Partial<typeof limits> = {}) {
  const ffmpeg = await hostileFfprobe(script, 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  const job = new AbortController();
  const running = runFfmpeg(nothing, { ...limits, ...others }, job.signal);
  running.catch(() => {});
  await waitUntil('its processes', async () => (await ffmpeg.started()) === count);
  return { ...ffmpeg, running, cancel: () => job.abort(new Error('cancelled')) };
}

test('an ffmpeg that hangs ends at its time limit and leaves nothing behind', async () => {
  using deadline = holdDeadline(seconds * 1000);
  await using ffmpeg = await startedFfmpeg('trap "" TERM\nwhile :; do sleep 6000; done', 1);
  deadline.pass();
  await expect(ffmpeg.running).rejects.toMatchObject({
    name: 'ToolStopped',
    message: expect.stringContaining(`${seconds * 1000} ms`),
  });
  await ffmpeg.allEnded();
});

test.each([
  ['spins', 'while :; do :; done', 'too_costly'],
  ['writes too much', 'exec dd if=/dev/zero of="$folder/video" bs=1M count=50', 'too_costly'],
  ['prints endlessly', 'exec yes', 'too_costly'],
  [
    'forks and crashes',
    '(. "$count"; mkdir "$folder/forked"; sleep 6000) &\nuntil [ -e "$folder/forked" ]; do sleep 0.01; done\nkill -SEGV $$',
    'broken',
  ],
])('an ffmpeg that %s ends within its limits and leaves nothing behind', async (_, script, expected) => {
  await using ffmpeg = await hostileFfprobe(script, 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  expect(await runFfmpeg(nothing, limits, patientSignal())).toBe(expected);
  expect(await ffmpeg.started()).toBeGreaterThan(0);
  await ffmpeg.allEnded();
});

test('reports the seconds of output that are done, and ends an ffmpeg that reports endlessly', async () => {
  const report = 'out_time_us=1500000\\nout_time=00:00:01.500000\\nprogress=continue\\n';
  await using ffmpeg = await hostileFfprobe(`printf '${report}'; exec yes out_time_us=N/A`, 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  const reported: number[] = [];
  expect(await runFfmpeg(nothing, limits, patientSignal(), (seconds) => reported.push(seconds))).toBe('too_costly');
  expect(reported).toEqual([1.5]);
  await ffmpeg.allEnded();
});

test('reports an ffmpeg that exceeds its CPU time or is stopped', async () => {
  const work = { input: ['-f', 'lavfi', '-i', 'testsrc2=size=hd1080'], output: ['-f', 'null', '-'] };
  expect(await runFfmpeg(work, limits, patientSignal())).toBe('timed_out');
  await using ffmpeg = await hostileFfprobe('exit 255', 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  expect(await runFfmpeg(work, limits, patientSignal())).toBe('timed_out');
});

test('kills ffmpeg if the job is cancelled', async () => {
  await using ffmpeg = await startedFfmpeg('sleep 6000', 1);
  ffmpeg.cancel();
  await expect(ffmpeg.running).rejects.toThrow('cancelled');
  await ffmpeg.allEnded();
});

test("leaves no process of ffmpeg's group after a kill", async () => {
  const child = '(. "$count"; exec dd if=/dev/zero of=/dev/null bs=64M) > /dev/null 2>&1 &';
  const script = `${child}\n${child}\n${child}\n${child}\nwait`;
  await using ffmpeg = await startedFfmpeg(script, 5, { cpuSeconds: seconds });
  ffmpeg.cancel();
  await expect(ffmpeg.running).rejects.toThrow('cancelled');
  await ffmpeg.allEnded(0);
});
