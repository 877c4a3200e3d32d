import { useFolderStore } from '@echodrop/archive/folder-store.fixture';
import { builtService } from '@echodrop/testkit/built-service';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';
import { runAdmin } from './run-admin.ts';

interface Result {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output, line by line. */
  readonly lines: readonly string[];
}

// Not the data of a system that runs on this machine.
const isolated = { DATA_DIR: '/nonexistent' };

/** Runs a command in its own process, without this one's settings. */
export async function runCommandProcess(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [await builtService('admin'), ...args], {
    env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...isolated, ...env },
    extendEnv: false,
    reject: false,
    timeout: patienceMs,
  });
  return { exitCode, stdout, stderr, lines: stdout.split('\n') };
}

/** Runs a command in this process, which is faster, until `signal` interrupts it. */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  signal?: AbortSignal,
): Promise<Result> {
  const written = { stdout: '', stderr: '' };
  const to = (stream: 'stdout' | 'stderr') => ({
    write(text: string | Uint8Array) {
      written[stream] += text;
      return true;
    },
  });
  const output = { stdout: to('stdout'), stderr: to('stderr') };
  const exitCode = await runAdmin(args, { ...isolated, ...env }, output, signal);
  // Like execa.
  const stdout = written.stdout.replace(/\n$/, '');
  const stderr = written.stderr.replace(/\n$/, '');
  return { exitCode, stdout, stderr, lines: stdout.split('\n') };
}

/** Gives each test a new DATA_DIR with an empty store, like `npm start`. */
export function useDataDir() {
  return useFolderStore('store');
}
