import { join } from 'node:path';
import { execa } from 'execa';

interface Ran {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output, line by line. */
  readonly lines: readonly string[];
}

/** Runs a command as an operator does, as a process of its own with nothing of this one's settings. */
export async function admin(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [join(import.meta.dirname, 'main.ts'), ...args], {
    // What a system that runs here may have made is not this one's.
    env: { DATA_DIR: '/nonexistent', ...env },
    extendEnv: false,
    reject: false,
    timeout: 15_000,
  });
  return { exitCode, stdout, stderr, lines: stdout.split('\n') };
}
