import { hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { afterEach, expect, test } from 'vitest';
import { runFfmpeg } from './ffmpeg.ts';
import { setSandboxMode } from './sandbox.ts';

// The full sandbox forbids a shell script to start programs.
setSandboxMode('limits-only');

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

const limits = { cpuSeconds: 1, addressBytes: 2 ** 30, fileBytes: 2 ** 20, maxPixels: 1e8 };
const run = (ms: number, seconds = 20) =>
  runFfmpeg({ input: [], output: [] }, { ...limits, seconds }, AbortSignal.timeout(ms));

test.each([
  [
    'hangs',
    'trap "" TERM\nwhile :; do sleep 600; done',
    { name: 'ToolStopped', message: expect.stringMatching(/2000 ms/) },
    2,
  ],
  ['spins', 'while :; do :; done', 'too_costly'],
  ['writes too much', 'exec dd if=/dev/zero of="$folder/video" bs=1M count=50', 'too_costly'],
  ['prints endlessly', 'exec yes', 'too_costly'],
  ['forks and crashes', '(. "$count"; sleep 600) &\nsleep 0.2\nkill -SEGV $$', 'broken'],
])(
  'an ffmpeg that %s ends within its limits and leaves nothing behind',
  async (_, script, expected, seconds?: number) => {
    await using ffmpeg = await hostileFfprobe(script, 'ffmpeg');
    process.env.PATH = ffmpeg.path;
    expect(await run(30_000, seconds).catch((error: Error) => error)).toEqual(
      typeof expected === 'string' ? expected : expect.objectContaining(expected),
    );
    expect(await ffmpeg.started()).toBeGreaterThan(0);
    await ffmpeg.allEnded();
  },
);

test('reports an ffmpeg that exceeds its CPU time or is stopped', async () => {
  const work = { input: ['-f', 'lavfi', '-i', 'testsrc2=size=hd1080'], output: ['-f', 'null', '-'] };
  const signal = AbortSignal.timeout(30_000);
  expect(await runFfmpeg(work, { ...limits, seconds: 20 }, signal)).toBe('timed_out');
  await using ffmpeg = await hostileFfprobe('exit 255', 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  expect(await runFfmpeg(work, { ...limits, seconds: 20 }, signal)).toBe('timed_out');
});

test('kills ffmpeg if the job is cancelled', async () => {
  await using ffmpeg = await hostileFfprobe('sleep 600', 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  await expect(run(300)).rejects.toThrow(/timeout/);
  await ffmpeg.allEnded();
});

test("leaves no process of ffmpeg's group after a kill", async () => {
  const child = '(. "$count"; exec dd if=/dev/zero of=/dev/null bs=64M) > /dev/null 2>&1 &';
  await using ffmpeg = await hostileFfprobe(`${child}\n${child}\n${child}\n${child}\nwait`, 'ffmpeg');
  process.env.PATH = ffmpeg.path;
  await expect(run(500)).rejects.toThrow(/timeout/);
  await ffmpeg.allEnded(0);
});
