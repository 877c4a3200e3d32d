import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type HostileFfprobe, hostileFfprobe } from '@echodrop/testkit/hostile/hostile-ffprobe';
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

const look = (ms: number) => videoTracks('/dev/null', 'mp4', AbortSignal.timeout(ms));

async function expectNoneRunning(started: number): Promise<void> {
  expect(await ffprobe.started()).toBe(started);
  await ffprobe.allEnded();
}

describe('an ffprobe that', () => {
  test('hangs is killed if the job is cancelled', async () => {
    await ffprobeIs('sleep 600');
    await expect(look(500)).rejects.toThrow(/timeout/);
    await expectNoneRunning(1);
  });

  test('hangs and ignores signals is killed after ten seconds', async () => {
    await ffprobeIs('trap "" TERM HUP INT QUIT XCPU\nwhile :; do sleep 600; done');
    const before = performance.now();
    await expect(look(60_000)).rejects.toThrow('timed out after 10000 ms');
    expect(performance.now() - before).toBeLessThan(11_500);
    await expectNoneRunning(1);
  });

  test('forks, and forks again, leaves no process', async () => {
    await ffprobeIs(
      '(. "$count"; trap "" TERM HUP INT; sleep 600) &\n(. "$count"; (. "$count"; sleep 600) & sleep 600) &\nwait',
    );
    await expect(look(500)).rejects.toThrow(/timeout/);
    await expectNoneRunning(4);
  });

  test('succeeds and leaves a child behind is done, and the child is killed', async () => {
    await ffprobeIs('(. "$count"; sleep 600) &\nsleep 0.3\ncat "$folder/output"');
    expect(await look(5000)).toMatchObject([{ width: 7 }]);
    await expectNoneRunning(2);
  });

  test('prints endlessly is stopped at once', async () => {
    await ffprobeIs('exec yes "[STREAM]"');
    expect(await look(9000)).toBe('too_costly');
    await expectNoneRunning(1);
  });

  test('prints endless errors is stopped at once', async () => {
    await ffprobeIs('exec yes >&2');
    expect(await look(9000)).toBe('too_costly');
    await expectNoneRunning(1);
  });

  // What a tool that exceeds its limits causes is in ffmpeg-bounds.integration.test.ts.
  test('counts its limits gets three seconds of CPU time and a GiB of memory', async () => {
    await ffprobeIs('[ "$(ulimit -t) $(ulimit -v)" = "3 1048576" ] && cat "$folder/output"');
    expect(await look(9000)).toMatchObject([{ width: 7 }]);
  });

  test('writes a file cannot', async () => {
    await ffprobeIs('dd if=/dev/zero of="$folder/file" bs=1M count=100');
    await look(9000).catch(() => undefined);
    expect(await readFile(join(ffprobe.folder, 'file'), 'latin1')).toBe('');
  });

  test('crashes makes the video broken', async () => {
    await ffprobeIs('kill -SEGV $$');
    expect(await look(9000)).toBe('broken');
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
    expect(await look(9000)).toBe('broken');
  });

  test('is killed by another process is a breakdown', async () => {
    await ffprobeIs('kill -KILL $$');
    await expect(look(9000)).rejects.toMatchObject({ name: 'ToolStopped' });
  });

  test('is missing is a breakdown', async () => {
    await ffprobeIs('');
    await rm(join(ffprobe.folder, 'ffprobe'));
    process.env.PATH = ffprobe.folder;
    await expect(look(9000)).rejects.toMatchObject({ name: 'ToolFailed' });
  });
});
