import { mkdir, mkdtempDisposable, open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { startCanary } from '@echodrop/testkit/hostile-canary';
import { hostileMedia } from '@echodrop/testkit/hostile-media';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const MiB = 2 ** 20;
const fixture = join(import.meta.dirname, 'probe-files.fixture.ts');
const traced = (await execa('strace', ['-V'], { reject: false })).exitCode === 0;
if (!traced)
  process.stderr.write('\n!!! NO STRACE: what the probe opens is not looked at. Debian: apt-get install strace\n\n');

test.skipIf(!traced)(
  'no hostile media makes a process open a socket, or any file but the one laid out for it',
  async () => {
    await using parts = new AsyncDisposableStack();
    const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'probe-reach-'))).path;
    const canary = parts.use(await startCanary());
    const [media, scratch, trace] = ['media', 'scratch', 'trace'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(media);
    await mkdir(scratch);
    for (const [n, { make, zeros = 0 }] of hostileMedia.entries()) {
      await using file = await open(join(media, String(n)), 'w');
      const bytes = await make(canary);
      await file.write(bytes);
      await file.truncate(bytes.length + zeros);
    }

    const calls = '%network,open,openat,openat2,creat,execve';
    const { stdout } = await execa(
      'strace',
      [
        '-f',
        '--seccomp-bpf',
        '-s',
        '500',
        '-o',
        trace,
        '-e',
        `trace=${calls}`,
        process.execPath,
        fixture,
        media,
        scratch,
      ],
      { timeout: 100_000 },
    );

    expect(await canary.touched()).toEqual([]);
    const { answers, grownBy } = JSON.parse(stdout) as { answers: number; grownBy: number };
    expect(answers).toBe(hostileMedia.length);
    expect(grownBy).toBeLessThan(200 * MiB);
    const lines = (await readFile(trace, 'latin1')).split('\n');
    expect(lines.filter((line) => /socket\(AF_(INET|PACKET)/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.includes(canary.file) && !line.includes('execve('))).toEqual([]);
    const opened = filesOpenedBy('ffprobe', lines).filter((path) => !isOfTheSystem(path));
    expect(opened.length).toBeGreaterThan(40);
    expect(opened.filter((path) => !path.startsWith(join(scratch, 'film-')))).toEqual([]);
  },
  120_000,
);

/** What processes that run `program` open, by `strace -f`: each line begins with the id of a process. */
function filesOpenedBy(program: string, lines: readonly string[]): readonly string[] {
  const running = new Map<string, string>();
  const opened: string[] = [];
  for (const line of lines) {
    const [, pid = '', call = '', path = ''] = /^(\d+) +(\w+)\((?:AT_FDCWD, )?"([^"]*)"/.exec(line) ?? [];
    if (call === 'execve') running.set(pid, basename(path));
    else if (path && running.get(pid) === program) opened.push(path);
  }
  return opened;
}

function isOfTheSystem(path: string): boolean {
  return /^\/(lib|lib64|usr|etc|proc|sys|dev)\//.test(path);
}
