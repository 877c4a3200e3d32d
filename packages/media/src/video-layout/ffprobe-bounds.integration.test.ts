import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { holdDeadline } from '@echodrop/testkit/hostile/held-deadline';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
import { patientSignal } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, describe, expect, test } from 'vitest';
import { setSandboxMode } from '../sandbox/sandbox.ts';
import { videoTracks } from './ffprobe.ts';

// The full sandbox forbids a shell script to start programs.
setSandboxMode('limits-only');

const path = process.env.PATH;
let ffprobe: HostileFfprobe;

afterEach(async () => {
  process.env.PATH = path;
  await ffprobe[Symbol.asyncDispose]();
});

async function ffprobeIs(script: string): Promise<void> {
  ffprobe = await hostileFfprobe(script);
  await writeFile(join(ffprobe.folder, 'output'), '{"streams":[{"index":0,"width":7}]}');
  process.env.PATH = ffprobe.path;
}

const look = (signal = patientSignal()) => videoTracks('/dev/null', 'mp4', signal);

/** A look in which `count` processes have started. */
async function startedLook(count: number) {
  const job = new AbortController();
  const looking = look(job.signal);
  looking.catch(() => {});
  await waitUntil('its processes', async () => (await ffprobe.started()) === count);
  return { looking, cancel: () => job.abort(new Error('cancelled')) };
}

async function expectNoneRunning(started: number): Promise<void> {
  expect(await ffprobe.started()).toBe(started);
  await ffprobe.allEnded();
}

describe('an ffprobe that', () => {
  test('hangs is killed if the job is cancelled', async () => {
    await ffprobeIs('sleep 600');
    const { looking, cancel } = await startedLook(1);
    cancel();
    await expect(looking).rejects.toThrow('cancelled');
    await expectNoneRunning(1);
  });

  test('hangs and ignores signals is killed after ten seconds', async () => {
    await ffprobeIs('trap "" TERM HUP INT QUIT XCPU\nwhile :; do sleep 600; done');
    using deadline = holdDeadline(10_000);
    const { looking } = await startedLook(1);
    deadline.pass();
    await expect(looking).rejects.toThrow('timed out after 10000 ms');
    await expectNoneRunning(1);
  });

  test('forks, and forks again, leaves no process', async () => {
    await ffprobeIs(
      '(. "$count"; trap "" TERM HUP INT; sleep 600) &\n(. "$count"; (. "$count"; sleep 600) & sleep 600) &\nwait',
    );
    const { looking, cancel } = await startedLook(4);
    cancel();
    await expect(looking).rejects.toThrow('cancelled');
    await expectNoneRunning(4);
  });

  test('succeeds and leaves a child behind is done, and the child is killed', async () => {
    await ffprobeIs(
      '(. "$count"; mkdir "$folder/forked"; sleep 600) &\nuntil [ -e "$folder/forked" ]; do sleep 0.01; done\ncat "$folder/output"',
    );
    expect(await look()).toMatchObject([{ width: 7 }]);
    await expectNoneRunning(2);
  });

  test('prints endlessly is stopped at once', async () => {
    await ffprobeIs('exec yes "[STREAM]"');
    expect(await look()).toBe('too_costly');
    await expectNoneRunning(1);
  });

  test('prints endless errors is stopped at once', async () => {
    await ffprobeIs('exec yes >&2');
    expect(await look()).toBe('too_costly');
    await expectNoneRunning(1);
  });

  // What a tool that exceeds its limits causes is in ffmpeg-bounds.integration.test.ts.
  test('counts its limits gets three seconds of CPU time and a GiB of memory', async () => {
    await ffprobeIs('[ "$(ulimit -t) $(ulimit -v)" = "3 1048576" ] && cat "$folder/output"');
    expect(await look()).toMatchObject([{ width: 7 }]);
  });

  test('writes a file cannot', async () => {
    await ffprobeIs('dd if=/dev/zero of="$folder/file" bs=1M count=100');
    await look().catch(() => undefined);
    expect(await readFile(join(ffprobe.folder, 'file'), 'latin1')).toBe('');
  });

  test('crashes makes the video broken', async () => {
    await ffprobeIs('kill -SEGV $$');
    expect(await look()).toBe('broken');
  });

  test.each([
    ['nothing', ''],
    ['invalid JSON', '[STREAM]'],
    ['JSON without tracks', 'null'],
    ['another type instead of a number', '{"streams":[{"index":0,"width":"7"}]}'],
    ['a width that no picture has', '{"streams":[{"index":0,"width":1e300}]}'],
    ['a negative height', '{"streams":[{"index":0,"height":-1}]}'],
    ['more tracks than a video may have', `{"streams":[${Array(65).fill('{"index":0}')}]}`],
    ['nested arrays up to its limit', '['.repeat(250_000)],
  ])('outputs %s makes the video broken', async (_, output) => {
    await ffprobeIs('cat "$folder/output"');
    await writeFile(join(ffprobe.folder, 'output'), output);
    expect(await look()).toBe('broken');
  });

  test('is killed by another process is a breakdown', async () => {
    await ffprobeIs('kill -KILL $$');
    await expect(look()).rejects.toMatchObject({ name: 'ToolStopped' });
  });

  test('is missing is a breakdown', async () => {
    await ffprobeIs('');
    await rm(join(ffprobe.folder, 'ffprobe'));
    process.env.PATH = ffprobe.folder;
    await expect(look()).rejects.toMatchObject({ name: 'ToolFailed' });
  });
});
