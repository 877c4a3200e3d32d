import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filmTracks } from './ffprobe.ts';

const path = process.env.PATH;
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ffprobe-bounds-'));
  await mkdir(join(directory, 'pids'));
});
afterEach(async () => {
  process.env.PATH = path;
  await rm(directory, { recursive: true });
});

/** Puts a shell script in ffprobe's place. It notes each process id as a directory, for no file may be written. */
async function ffprobeIs(script: string): Promise<void> {
  const note = `note() { mkdir "${directory}/pids/$1"; }`;
  await writeFile(join(directory, 'ffprobe'), `#!/bin/sh\n${note}\nnote $$\n${script}\n`, { mode: 0o755 });
  process.env.PATH = `${directory}:${path}`;
}

const look = (ms: number) => filmTracks('/dev/null', 'mp4', AbortSignal.timeout(ms));
const noted = () => readdir(join(directory, 'pids'));

// A process that was killed and whose new parent has not asked for it yet is a zombie: dead.
async function lives(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return status !== '' && !/\) [ZX] /.test(status);
}

async function expectNobodyLeft(processes: number): Promise<void> {
  expect(await noted()).toHaveLength(processes);
  await waitUntil('the end of every process', 2000, async () => {
    const alive = await Promise.all((await noted()).map(lives));
    return !alive.includes(true);
  });
}

describe('an ffprobe that', () => {
  test('hangs is killed when nobody waits any more', async () => {
    await ffprobeIs('sleep 600');
    await expect(look(500)).rejects.toThrow(/timeout/);
    await expectNobodyLeft(1);
  });

  test('hangs is killed after ten seconds', async () => {
    await ffprobeIs('exec sleep 600');
    const before = performance.now();
    await expect(look(60_000)).rejects.toThrow('was not done after 10000 ms');
    expect(performance.now() - before).toBeLessThan(11_500);
    await expectNobodyLeft(1);
  });

  test('forks, and forks again, leaves nobody', async () => {
    await ffprobeIs('(trap "" TERM HUP INT; sleep 600) & note $!\n(sleep 600 & sleep 600) & note $!\nwait');
    const look500 = look(500);
    await expect(look500).rejects.toThrow(/timeout/);
    await expectNobodyLeft(3);
  });

  test('ends well and leaves a child behind is done, and the child with it', async () => {
    await ffprobeIs('sleep 600 & note $!\nexit 0');
    expect(await look(5000)).toEqual([]);
    await expectNobodyLeft(2);
  });

  test('prints for ever is stopped at once', async () => {
    await ffprobeIs('exec yes "[STREAM]"');
    expect(await look(9000)).toBe('too_costly');
    await expectNobodyLeft(1);
  });

  test('complains for ever is stopped at once', async () => {
    await ffprobeIs('exec yes >&2');
    expect(await look(9000)).toBe('too_costly');
    await expectNobodyLeft(1);
  });

  test('spins is stopped after five seconds of processor time', async () => {
    await ffprobeIs('while :; do :; done');
    expect(await look(30_000)).toBe('too_costly');
    await expectNobodyLeft(1);
  });

  test('eats memory fails', async () => {
    await ffprobeIs('exec tail /dev/zero');
    expect(await look(9000)).toBe('broken');
    await expectNobodyLeft(1);
  });

  test('writes a file cannot', async () => {
    await ffprobeIs(`echo stolen > "${directory}/file"`);
    await look(9000).catch(() => undefined);
    expect(await readFile(join(directory, 'file'), 'latin1')).toBe('');
  });

  test('looks into its environment finds nothing of ours', async () => {
    process.env.S3_SECRET_KEY = 'a secret';
    await ffprobeIs('test -z "$S3_SECRET_KEY" && printf "[STREAM]\\nwidth=7\\n[/STREAM]\\n"');
    expect(await look(9000)).toMatchObject([{ width: 7 }]);
    delete process.env.S3_SECRET_KEY;
  });

  test('crashes says that the film is broken', async () => {
    await ffprobeIs('kill -SEGV $$');
    expect(await look(9000)).toBe('broken');
  });

  test('is missing is a breakdown', async () => {
    await ffprobeIs('');
    await rm(join(directory, 'ffprobe'));
    const tools = ['env', 'sh', 'timeout', 'prlimit', 'setpriv'];
    for (const tool of tools)
      await writeFile(join(directory, tool), `#!/bin/sh\nexec /usr/bin/${tool} "$@"\n`, { mode: 0o755 });
    process.env.PATH = directory;
    await expect(look(9000)).rejects.toMatchObject({ name: 'ToolFailed' });
  });
});
