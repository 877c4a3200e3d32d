import { readFile, writeFile } from 'node:fs/promises';
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

// What any tool may do is in run-tool.integration.test.ts.
describe('an ffprobe that', () => {
  test('hangs is a breakdown after ten seconds', async () => {
    await ffprobeIs('sleep 600');
    using deadline = holdDeadline(10_000);
    const looking = look();
    looking.catch(() => {});
    await waitUntil('its process', async () => (await ffprobe.started()) === 1);
    deadline.pass();
    await expect(looking).rejects.toThrow('ffprobe timed out after 10 s');
  });

  test('counts its limits gets three seconds of CPU time and a GiB of memory', async () => {
    await ffprobeIs('[ "$(ulimit -t) $(ulimit -v)" = "3 1048576" ] && cat "$folder/output"');
    expect(await look()).toMatchObject([{ width: 7 }]);
  });

  test('writes a file cannot', async () => {
    await ffprobeIs('dd if=/dev/zero of="$folder/file" bs=1M count=100');
    await look().catch(() => undefined);
    expect(await readFile(join(ffprobe.folder, 'file'), 'latin1')).toBe('');
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
});
