import { holdDeadline } from '@echodrop/testkit/hostile/held-deadline';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { patientSignal } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runFfmpeg } from './ffmpeg.ts';
import { runTool, ToolFailed, ToolStopped } from './run-tool.ts';
import { setSandboxMode } from './sandbox.ts';

// The full sandbox forbids a shell script to start programs.
beforeEach(() => setSandboxMode('limits-only'));

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

const seconds = 1000;
const limits = { seconds, cpuSeconds: 1, addressBytes: 2 ** 30, fileBytes: 2 ** 20, maxPixels: 1e8 };

/** A script that replaces ffmpeg, which every tool is like. */
async function toolOf(script: string): Promise<HostileFfprobe> {
  const tool = await hostileFfprobe(script, 'ffmpeg');
  process.env.PATH = tool.path;
  return tool;
}

async function run(signal = patientSignal(), cpuSeconds = limits.cpuSeconds) {
  return (await runTool(['ffmpeg'], { ...limits, cpuSeconds }, { signal })).end;
}

const child = '(. "$count"; mkdir "$folder/forked"; sleep 6000) &\nuntil [ -e "$folder/forked" ]; do sleep 0.01; done';

test.each([
  ['fails', 'exit 1', 'broken', 1],
  ['spins', 'while :; do :; done', 'too_costly', 1],
  ['writes too much', 'exec dd if=/dev/zero of="$folder/video" bs=1M count=50', 'too_costly', 1],
  ['prints endlessly', 'exec yes', 'too_costly', 1],
  ['prints endless errors', 'exec yes >&2', 'too_costly', 1],
  ['forks and crashes', `${child}\nkill -SEGV $$`, 'broken', 2],
  ['succeeds and leaves a child behind', child, 'done', 2],
])('a tool that %s ends within its limits and leaves nothing behind', async (_, script, end, processes) => {
  await using tool = await toolOf(script);
  expect(await run()).toBe(end);
  expect(await tool.started()).toBe(processes);
  await tool.allEnded();
});

test('a tool that hangs and ignores signals ends at its time limit', async () => {
  using deadline = holdDeadline(seconds * 1000);
  await using tool = await toolOf('trap "" TERM HUP INT QUIT XCPU\nwhile :; do sleep 6000; done');
  const running = run();
  await waitUntil('its process', async () => (await tool.started()) === 1);
  deadline.pass();
  expect(await running).toBe('timed_out');
  await tool.allEnded();
});

const reader = '(. "$count"; exec dd if=/dev/zero of=/dev/null bs=64M) > /dev/null 2>&1 &';
test.each([
  ['hangs', 'sleep 6000', 1],
  ['forks, and forks again', '(. "$count"; trap "" TERM; (. "$count"; sleep 600) & sleep 600) &\nwait', 3],
  ['forks busy processes', `${reader}\n${reader}\n${reader}\n${reader}\nwait`, 5],
])('a tool that %s is killed with its children if the job is cancelled', async (_, script, processes) => {
  await using tool = await toolOf(script);
  const job = new AbortController();
  const running = run(job.signal, seconds);
  running.catch(() => {});
  await waitUntil('its processes', async () => (await tool.started()) === processes);
  job.abort(new Error('cancelled'));
  await expect(running).rejects.toThrow('cancelled');
  await tool.allEnded(0);
});

test.each([
  ...['exit 137', 'exit 124', 'exit 125', 'exit 126', 'exit 127'],
  ...['KILL', 'TERM', 'INT', 'HUP', 'ALRM'].map((name) => `kill -${name} $$`),
])('reports a tool that ends like "%s" as stopped: the media need not be at fault', async (end) => {
  await using _ = await toolOf(end);
  await expect(run()).rejects.toThrow(ToolStopped);
});

test('a missing tool is a breakdown', async () => {
  process.env.PATH = '/nowhere';
  await expect(run()).rejects.toThrow(ToolFailed);
});

const withoutDescriptors = `
  import { openSync } from 'node:fs';
  import { runTool } from ${JSON.stringify(import.meta.resolve('./run-tool.ts'))};
  try {
    for (;;) openSync('/dev/null');
  } catch {}
  const limits = ${JSON.stringify(limits)};
  const signal = new AbortController().signal;
  await runTool(['true'], limits, { signal }).catch(({ name, message }) => console.log(name, message));
`;

test('survives if no file descriptor is free for a tool', async () => {
  const node = [process.execPath, '--input-type=module', '--eval', withoutDescriptors];
  const { stdout } = await execa('prlimit', ['--nofile=256', ...node], { reject: false });
  expect(stdout).toBe('ToolFailed sandbox did not start');
});

const nothing = { input: [], output: [] };

test('reports the seconds of output that are done, and ends an ffmpeg that reports endlessly', async () => {
  const report = 'out_time_us=1500000\\nout_time=00:00:01.500000\\nprogress=continue\\n';
  await using ffmpeg = await toolOf(`printf '${report}'; exec yes out_time_us=N/A`);
  const reported: number[] = [];
  expect(await runFfmpeg(nothing, limits, patientSignal(), (seconds) => reported.push(seconds))).toBe('too_costly');
  expect(reported).toEqual([1.5]);
  await ffmpeg.allEnded();
});

test('an ffmpeg that exceeds its CPU time or is stopped has timed out', async () => {
  const work = { input: ['-f', 'lavfi', '-i', 'testsrc2=size=hd1080'], output: ['-f', 'null', '-'] };
  expect(await runFfmpeg(work, limits, patientSignal())).toBe('timed_out');
  await using _ = await toolOf('exit 255');
  expect(await runFfmpeg(nothing, limits, patientSignal())).toBe('timed_out');
});
