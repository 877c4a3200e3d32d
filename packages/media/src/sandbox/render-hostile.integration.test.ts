import { mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { startCanary, type WatchedCanary } from '@echodrop/testkit/hostile/hostile-canary';
import { hostileMedia } from '@echodrop/testkit/hostile/hostile-media';
import { writeHostile } from '@echodrop/testkit/hostile/hostile-sample';
import { heif } from '@echodrop/testkit/samples/sample-heif';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { markedVideo } from '../render-video/marked-videos.fixture.ts';

const MiB = 2 ** 20;
const traced = (await execa('strace', ['-V'], { reject: false })).exitCode === 0;
if (!traced)
  process.stderr.write('\n!!! NO STRACE: what tools open is not looked at. Debian: apt-get install strace\n\n');

test.skipIf(!traced)(
  'hostile media never makes a probe process open a socket, or any file but its input',
  async () => {
    await using parts = new AsyncDisposableStack();
    const { media, scratch, trace } = await folders(parts);
    const canary = parts.use(await startCanary());
    await writeHostile(media, hostileMedia, canary);

    const { printed, calls } = await tracedRun('probe-files.fixture.ts', { media, scratch, trace });

    const { probes, grownBy } = JSON.parse(printed) as { probes: number; grownBy: number };
    expect(probes).toBe(hostileMedia.length);
    expect(grownBy).toBeLessThan(200 * MiB);
    await expectOutOfReach(canary, calls);
    const opened = filesOpenedBy('ffprobe', calls);
    expect(opened.length).toBeGreaterThan(40);
    expect(opened.filter((path) => !path.startsWith(join(scratch, 'video-')))).toEqual([]);
  },
  120_000,
);

test.skipIf(!traced)(
  'hostile media never makes ffmpeg or the picture process open a socket, or any file but input and output',
  async () => {
    await using parts = new AsyncDisposableStack();
    const { media, scratch, trace } = await folders(parts);
    const canary = parts.use(await startCanary());
    const names = [canary.file, canary.address].flatMap((name) => [Buffer.from(name), Buffer.from(name, 'utf16le')]);
    let luring = 0;
    for (const { make } of hostileMedia) {
      const bytes = await make(canary);
      if (names.some((name) => bytes.includes(name))) await writeFile(join(media, `luring-${luring++}`), bytes);
    }
    expect(luring).toBeGreaterThan(20);
    for (const [n, make] of honestMedia.entries()) await writeFile(join(media, `honest-${n}`), await make());

    const { printed, calls } = await tracedRun('render-files.fixture.ts', { media, scratch, trace });

    const ends = Object.entries(JSON.parse(printed) as Record<string, readonly string[]>);
    const valid = ends.filter(([name]) => name.startsWith('honest-')).flatMap(([, end]) => end);
    expect(new Set(valid)).toEqual(new Set(['made']));
    expect(ends.flatMap(([, end]) => end)).not.toContain('gave up');
    await expectOutOfReach(canary, calls);
    const byFfmpeg = filesOpenedBy('ffmpeg', calls);
    expect(byFfmpeg.length).toBeGreaterThan(20);
    expect(byFfmpeg.filter((path) => !isWithin(path, [media, scratch]))).toEqual([]);
    expect(calls.filter((call) => call.includes('picture-program.ts')).length).toBeGreaterThan(10);
    const own = [media, scratch, projectDir, dirname(process.execPath)];
    const others = filesOpened(calls).filter((path) => !isWithin(path, own));
    expect(others).toEqual([]);
  },
  120_000,
);

const projectDir = join(import.meta.dirname, '../../../..');

const small = { width: 64, height: 48 };
const honestMedia: readonly (() => Promise<Buffer>)[] = [
  ...(['jpg', 'avif', 'bmp'] as const).map((type) => () => samplePhoto(type, small)),
  () => heif({ coding: 'hevc', brands: ['heic', 'mif1'], ...small, orientation: 1 }),
  () => sampleVideo('webm', { ...small, seconds: 0.3 }),
  ...(['mp4', 'mkv'] as const).map((type) => () => markedVideo(type)),
];

interface Folders {
  readonly media: string;
  readonly scratch: string;
  readonly trace: string;
}

async function folders(parts: AsyncDisposableStack): Promise<Folders> {
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'reach-'))).path;
  const [media, scratch] = [join(folder, 'media'), join(folder, 'scratch')];
  await Promise.all([media, scratch].map((path) => mkdir(path)));
  return { media, scratch, trace: join(folder, 'trace') };
}

/** The output of a fixture, and the relevant system calls of its processes (`strace -f`; lines begin with a process id). */
async function tracedRun(
  fixture: string,
  { media, scratch, trace }: Folders,
): Promise<{ printed: string; calls: readonly string[] }> {
  const reaching = 'trace=%network,open,openat,openat2,creat,execve';
  const strace = ['-f', '--seccomp-bpf', '-s', '500', '-o', trace, '-e', reaching];
  const program = [process.execPath, join(import.meta.dirname, fixture), media, scratch];
  const { stdout } = await execa('strace', [...strace, ...program], { timeout: 100_000 });
  return { printed: stdout, calls: (await readFile(trace, 'latin1')).split('\n') };
}

async function expectOutOfReach(canary: WatchedCanary, calls: readonly string[]): Promise<void> {
  expect(await canary.touched()).toEqual([]);
  expect(calls.filter((line) => /socket\(AF_(INET|PACKET)/.test(line))).toEqual([]);
  expect(calls.filter((line) => line.includes(canary.file) && !line.includes('execve('))).toEqual([]);
}

const opening = /^(\d+) +(\w+)\((?:AT_FDCWD, )?"([^"]*)"/;

/** Files opened by the main threads of processes of `program`, except system files. */
function filesOpenedBy(program: string, calls: readonly string[]): readonly string[] {
  const running = new Map<string, string>();
  const opened: string[] = [];
  for (const line of calls) {
    const [, pid = '', call = '', path = ''] = opening.exec(line) ?? [];
    if (call === 'execve') running.set(pid, basename(path));
    else if (path && running.get(pid) === program) opened.push(path);
  }
  return opened.filter((path) => !isSystemFile(path));
}

/** Files opened by any thread of any process, except system files. */
function filesOpened(calls: readonly string[]): readonly string[] {
  const paths = calls
    .map((line) => opening.exec(line))
    .filter((found) => found?.[2] !== 'execve')
    .map((found) => found?.[3] ?? '');
  return paths.filter((path) => path && !isSystemFile(path));
}

function isSystemFile(path: string): boolean {
  return /^\/(lib|lib64|usr|etc|proc|sys|dev(?!\/shm))(\/|$)/.test(path);
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}
