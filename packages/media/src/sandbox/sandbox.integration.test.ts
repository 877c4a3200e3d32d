import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, mkdir, mkdtempDisposable, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { patientSignal } from '@echodrop/testkit/patience';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa, execaSync } from 'execa';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { VideoType } from '../detect-media-type.ts';
import { makePictures } from '../render-picture/picture-process.ts';
import { extractStill } from '../render-picture/render-pictures.ts';
import { renderVideo } from '../render-video/render-video.ts';
import { patientBudget, pictureOptions, sampleTrack, videoOptions } from '../rendered.fixture.ts';
import { pictureRecipes } from '../rendition-recipes.ts';
import { videoTracks } from '../video-layout/ffprobe.ts';
import { hasInterlacedFrames } from '../video-layout/interlaced.ts';
import { type HijackedTool, hasCompiler, hijackedTool } from './hijacked-tool.fixture.ts';
import { isOfKernel, sandboxFault } from './prepare-tools.ts';
import { runTool } from './run-tool.ts';
import { sandboxModes, setSandboxMode, startInSandbox } from './sandbox.ts';

const withCompiler = unlessMissing({ 'a C compiler': hasCompiler });

const limits = {
  seconds: 90,
  cpuSeconds: 5,
  addressBytes: 1024 ** 3,
  dataBytes: 512 * 1024 ** 2,
  fileBytes: 512 * 1024,
};

afterEach(() => setSandboxMode('full'));

const run = (tool: readonly [string, ...string[]], options = {}) =>
  runTool(tool, limits, { signal: new AbortController().signal, ...options });

const wanted = ['1 read its input', '1 write into its job folder'];

test('a hijacked tool can access only its input and its job folder', withCompiler, async () => {
  await using hijacked = await hijackedTool();
  const { program, folder } = hijacked;
  const files = { reads: [join(folder, 'in')], output: { folder: join(folder, 'job'), maxBytes: 1024 ** 3 } };
  const { end, stdout, stderr } = await run([program], files);
  expect({ end, stderr, done: stdout.trim().split('\n') }).toEqual({
    end: 'broken',
    stderr: '',
    done: ['begun', ...wanted],
  });
  expect(await readFile(join(folder, 'secret'), 'utf8')).toBe('secret');
  expect(await readdir(join(folder, 'job'))).toEqual(['made']);
});

const launcher = join(import.meta.dirname, 'landlock-and-seccomp.pl');
const launched = (mode: string, ...tool: string[]) => launchedBy(`${process.pid}`, mode, ...tool);
const launchedBy = (parent: string, mode: string, ...tool: string[]) => [
  mode,
  parent,
  ...'1000 5 1000000000 1000000000 0 0'.split(' '),
  '--',
  ...tool,
];

test('a hijacked tool does not inherit open files of its worker', withCompiler, async () => {
  await using hijacked = await hijackedTool();
  await using secret = await open(join(hijacked.folder, 'secret'));
  const startedIn = async (mode: string) => {
    const child = spawn(launcher, launched(mode, hijacked.program, '-'), {
      stdio: ['ignore', 'pipe', 2, 'ignore', secret.fd],
    });
    return child.stdout ? await text(child.stdout) : '';
  };
  expect(await startedIn('full')).toBe('begun\n');
  expect(await startedIn('limits-only')).toContain('1 use a file that its worker has open');
});

const video = (path: string, type: VideoType) => ({ path, type, picture: sampleTrack, sounds: [] });

/** Every function that runs a media tool: the result if the tool fails, and if it reports what it could access. */
const places: readonly [string, (path: string, out: string) => Promise<unknown>, failed: unknown, escaped: unknown][] =
  [
    ['ffprobe, for tracks', (path) => videoTracks(path, 'mkv', patientSignal()), 'broken', 'too_costly'],
    ['ffprobe, for interlaced frames', (path) => hasInterlacedFrames(video(path, 'mkv'), videoOptions()), false, true],
    [
      'ffmpeg, for a video',
      (path, out) => renderVideo(video(path, 'avi'), join(out, 'video.mp4'), videoOptions()),
      { outcome: 'unsupported', why: 'broken' },
      { outcome: 'unsupported', why: 'too_costly' },
    ],
    [
      'ffmpeg, for a poster',
      (path, out) => extractStill(video(path, 'avi'), true, pictureOptions(out)),
      'broken',
      'too_costly',
    ],
    [
      'ffmpeg, for a BMP',
      (path, out) => extractStill({ path, type: 'bmp' }, true, pictureOptions(out)),
      'broken',
      'too_costly',
    ],
    [
      'sharp and libheif, for pictures',
      (path, out) => {
        const pictures = [{ recipe: pictureRecipes.mini, path: join(out, 'mini.jpg') }];
        const job = { source: { path, type: 'heic' as const }, pictures, maxPixels: 1e8 };
        return makePictures(job, patientBudget, patientSignal());
      },
      { rendered: { outcome: 'unsupported', why: 'broken' }, made: [] },
      { rendered: { outcome: 'unsupported', why: 'too_costly' }, made: [] },
    ],
  ];

describe('a hijacked tool instead of', withCompiler, () => {
  let hijacked: HijackedTool;
  const { PATH } = process.env;
  const { execPath } = process;

  beforeAll(async () => {
    hijacked = await hijackedTool();
    await writeFile(join(hijacked.folder, 'in/other'), 'media');
    for (const name of ['ffprobe', 'ffmpeg']) await link(hijacked.program, join(hijacked.folder, name));
    process.env.PATH = `${hijacked.folder}:${PATH}`;
    process.execPath = hijacked.program;
  });

  afterAll(async () => {
    Object.assign(process.env, { PATH });
    process.execPath = execPath;
    await hijacked[Symbol.asyncDispose]();
  });

  test.each(places)('%s has no access', async (_name, use, failed) => {
    expect(await use(join(hijacked.folder, 'in/other'), join(hijacked.folder, 'job'))).toEqual(failed);
  });

  // Proves that the test above can fail.
  test.each(places)('%s would report any access', async (_name, use, _failed, escaped) => {
    setSandboxMode('limits-only');
    expect(await use(join(hijacked.folder, 'in/other'), join(hijacked.folder, 'job'))).toEqual(escaped);
  });
});

test('a tool has the given limits, no environment and no new privileges', async () => {
  process.env.S3_SECRET_KEY = 'a secret';
  setSandboxMode('limits-only');
  const script =
    'ulimit -t; ulimit -Ht; ulimit -v; ulimit -d; ulimit -n; ulimit -c; ulimit -f; grep NoNewPrivs /proc/self/status; env';
  const { stdout } = await run(['sh', '-c', script]);
  delete process.env.S3_SECRET_KEY;
  const [seconds, ...others] = stdout.split(/\s+/);
  expect([seconds, ...others.slice(0, 8)]).toEqual([
    '5',
    '10',
    '1048576',
    '524288',
    '64',
    '0',
    '1024',
    'NoNewPrivs:',
    '1',
  ]);
  expect(stdout).not.toContain('a secret');
});

test.runIf(process.arch === 'x64')('a tool that makes a 32-bit system call is killed', withCompiler, async () => {
  await using hijacked = await hijackedTool();
  const { program } = hijacked;
  const killedIn = async (mode: string) => {
    const child = spawn(launcher, launched(mode, program, 'call32'), { stdio: 'ignore' });
    return (await once(child, 'exit')) as [number | null, string | null];
  };
  expect(await killedIn('full')).toEqual([null, 'SIGSYS']);
  expect(await killedIn('limits-only')).toEqual([0, null]);
});

test('the launcher kills a tool after its deadline', async () => {
  setSandboxMode('limits-only');
  const child = startInSandbox(['sleep', '1000'], { ...limits, seconds: -1 }, {});
  expect(await once(child, 'exit')).toEqual([null, 'SIGALRM']);
});

test.each(sandboxModes)('%s: a tool dies with the worker that started it', async (mode) => {
  const [, , ...rest] = launched(mode, 'sleep', '1000');
  const worker = spawn('sh', ['-c', `"$0" ${mode} $$ "$@" & echo $!; wait`, launcher, ...rest]);
  const [tool] = await once(worker.stdout, 'data');
  const nameOfTool = () => readFile(`/proc/${String(tool).trim()}/comm`, 'utf8');
  await expect.poll(nameOfTool).toBe('sleep\n');
  worker.kill('SIGKILL');
  // Its output is closed when the tool has ended, too.
  await once(worker, 'close', { signal: patientSignal() });
});

test('a tool does not start if the worker that started it has ended', async () => {
  const { stderr } = await execa(launcher, launchedBy('1', 'full', 'true'), { reject: false });
  expect(stderr).toBe('sandbox: the process that started it has ended');
});

test('stops a tool that writes endless files', async () => {
  // The full sandbox forbids a script to start programs.
  setSandboxMode('limits-only');
  await using hijacked = await mkdtempDisposable(join(tmpdir(), 'sandbox-test-'));
  const { path: folder } = hijacked;
  const stoppedAt = async (script: string) => {
    const output = { folder, maxBytes: 4 * limits.fileBytes };
    return (await run(['sh', '-c', script], { output })).end;
  };
  expect(await stoppedAt(`i=0; while :; do : >${folder}/$i; i=$((i+1)); done`)).toBe('too_costly');
  await rm(folder, { recursive: true });
  await mkdir(folder);
  expect(
    await stoppedAt(
      `for i in 1 2 3 4 5 6 7 8; do head -c ${limits.fileBytes} /dev/zero >${folder}/$i; done; sleep 1000`,
    ),
  ).toBe('too_costly');
});

/** A modified launcher in a separate folder. */
async function changedLauncher(from: string, to: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'launcher-'));
  const code = await readFile(launcher, 'utf8');
  expect(code).toContain(from);
  const path = join(folder.path, 'sandbox');
  await writeFile(path, code.replaceAll(from, to), { mode: 0o755 });
  return { path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

// Simulates a kernel without these system calls.
test.each([
  ['Landlock', 'syscall(444,'],
  ['seccomp filter', 'syscall($nr{seccomp},'],
])('reports that the kernel lacks %s', async (feature, call) => {
  await using changed = await changedLauncher(call, 'syscall(9999,');
  const { stderr, exitCode } = await execa(changed.path, launched('full', 'true'), { reject: false });
  expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining(`sandbox: ${feature} (`), exitCode: 125 });
  expect(isOfKernel(stderr)).toBe(true);
});

// landlock_create_ruleset(2) returns the version: TCP from 4, abstract sockets and signals from 6.
const landlockVersion = Number(
  execaSync('perl', ['-e', 'print syscall(444, 0, 0, 1)'], { reject: false }).stdout || Number.NaN,
);

const withBoth = unlessMissing({ 'a C compiler': hasCompiler, 'Landlock 4': landlockVersion >= 4 });
test('Landlock alone isolates a hijacked tool', withBoth, async () => {
  await using hijacked = await hijackedTool();
  await using filterless = await changedLauncher('  restrict_calls();\n', '');
  const { stdout } = await execa(filterless.path, launched('full', hijacked.program, '-'), { reject: false });
  // Without the filter, the other attempts succeed.
  expect(stdout).toContain('1 make a UDP socket');
  expect(stdout).not.toContain('1 connect by TCP');
  if (landlockVersion < 6) return;
  expect(stdout).not.toContain('1 connect to an abstract UNIX socket');
  expect(stdout).not.toContain('1 signal its worker');
  const { stdout: free } = await execa(filterless.path, launched('limits-only', hijacked.program, '-'), {
    reject: false,
  });
  for (const each of ['connect by TCP', 'connect to an abstract UNIX socket', 'signal its worker'])
    expect(free).toContain(`1 ${each}`);
});

test('reports the feature that this machine lacks', async () => {
  expect(await sandboxFault()).toBeUndefined();
  const { stderr, exitCode } = await execa(launcher, launched('full', 'no-such-tool'), { reject: false });
  expect({ stderr, exitCode }).toEqual({ stderr: 'sandbox: no-such-tool is not in PATH', exitCode: 125 });
  expect(isOfKernel(stderr)).toBe(false);
});
