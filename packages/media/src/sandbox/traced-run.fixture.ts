import { mkdir, mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { builtPictureProgram } from '@echodrop/testkit/built-picture-program';
import { startCanary, type WatchedCanary } from '@echodrop/testkit/hostile/hostile-canary';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import { expect } from 'vitest';

/** Whether strace is installed and allowed: else what tools open is not looked at. */
export const hasStrace = (await execa('strace', ['-o', '/dev/null', 'true'], { reject: false })).exitCode === 0;

/** The folders of a run: `media` has its input, `scratch` the temporary files of tools. */
export interface Run extends AsyncDisposable {
  readonly media: string;
  readonly scratch: string;
  readonly canary: WatchedCanary;
  /** The folder of the built picture program, which the fixture starts. */
  readonly program: string;
  /**
   * Runs a fixture with both folders. Returns its output, and the relevant system calls of its processes (`strace -f`; lines begin with a process
   * id): none without strace.
   */
  trace(fixture: string): Promise<{ printed: string; calls: readonly string[] }>;
}

export async function prepareRun(): Promise<Run> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'reach-'))).path;
  const canary = parts.use(await startCanary());
  const [media, scratch, output] = ['media', 'scratch', 'trace'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([media, scratch].map((path) => mkdir(path)));
  const reaching = 'trace=%network,open,openat,openat2,creat,execve';
  const strace = ['strace', '-f', '--seccomp-bpf', '-s', '500', '-o', output, '-e', reaching];
  const program = await builtPictureProgram();
  // The cache is shared by all tests, so its files say nothing about a tool.
  const env = { BUILT_PICTURE_PROGRAM: program, NODE_DISABLE_COMPILE_CACHE: '1' };
  const hook = ['--import', join(import.meta.dirname, 'start-built-program.fixture.ts')];
  const owned = parts.move();
  return {
    media,
    scratch,
    canary,
    program: dirname(program),
    async trace(fixture) {
      const node = [process.execPath, ...hook, join(import.meta.dirname, fixture), media, scratch];
      const [command = '', ...args] = [...(hasStrace ? strace : []), ...node];
      const { stdout } = await execa(command, args, { env, timeout: 2.5 * patienceMs });
      const calls = hasStrace ? (await readFile(output, 'latin1')).split('\n') : [];
      return { printed: stdout, calls };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** No process opened a network socket or the canary's file. */
export function expectOutOfReach(canary: WatchedCanary, calls: readonly string[]): void {
  expect(calls.filter((line) => /socket\(AF_(INET|PACKET)/.test(line))).toEqual([]);
  expect(calls.filter((line) => line.includes(canary.file) && !line.includes('execve('))).toEqual([]);
}

const opening = /^(\d+) +(\w+)\((?:AT_FDCWD, )?"([^"]*)"/;

/** Files opened by the main threads of processes of `program`, except system files. */
export function filesOpenedBy(program: string, calls: readonly string[]): readonly string[] {
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
export function filesOpened(calls: readonly string[]): readonly string[] {
  const paths = calls
    .map((line) => opening.exec(line))
    .filter((found) => found?.[2] !== 'execve')
    .map((found) => found?.[3] ?? '');
  return paths.filter((path) => path && !isSystemFile(path));
}

function isSystemFile(path: string): boolean {
  return /^\/(lib|lib64|usr|etc|proc|sys|dev(?!\/shm))(\/|$)/.test(path);
}
