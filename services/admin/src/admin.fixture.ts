import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemObjectStore } from '@echodrop/object-store/filesystem/filesystem-object-store';
import { execa } from 'execa';
import { runAdmin } from './run-admin.ts';

interface Ran {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output, line by line. */
  readonly lines: readonly string[];
}

// What a system that runs here may have made is not this one's.
const elsewhere = { DATA_DIR: '/nonexistent' };

/** Runs a command as an operator does, as a process of its own with nothing of this one's settings. */
export async function admin(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    env: { ...elsewhere, ...env },
    extendEnv: false,
    reject: false,
    timeout: 15_000,
  });
  return { exitCode, stdout, stderr, lines: stdout.split('\n') };
}

/** Runs a command in this process, which starts at once. */
export async function adminHere(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const to = (stream: 'stdout' | 'stderr') => ({
    write(text: string | Uint8Array) {
      written[stream] += text;
      return true;
    },
  });
  const output = { stdout: to('stdout'), stderr: to('stderr') };
  const exitCode = await runAdmin(args, { ...elsewhere, ...env }, output);
  // As execa tells it.
  const stdout = written.stdout.replace(/\n$/, '');
  const stderr = written.stderr.replace(/\n$/, '');
  return { exitCode, stdout, stderr, lines: stdout.split('\n') };
}

/** An empty store as a system that runs here has it below its DATA_DIR, which is `folder`; both go with `parts`. */
export async function newDataDir(parts: AsyncDisposableStack) {
  const { path: folder } = parts.use(await mkdtempDisposable(join(tmpdir(), 'admin-test-')));
  const store = parts.use(new FilesystemObjectStore(join(folder, 'store')));
  await store.ready();
  return { folder, store };
}
