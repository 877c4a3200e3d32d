import { Readable } from 'node:stream';
import { patienceMs } from '@echodrop/testkit/patience';
import { runCli } from './run-cli.ts';

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly stdin?: Buffer | string;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly maxCheckMs?: number;
  /** Called with standard error so far, whenever it grows. */
  readonly onStderr?: (text: string) => void;
  readonly onStdout?: (text: string) => void;
}

/** Runs the command line in this process. Nothing of the machine's own environment reaches it. */
export async function run(args: readonly string[], options: RunOptions = {}) {
  const { env = {}, cwd = '/', stdin = '', isTTY = false, columns, maxCheckMs = patienceMs } = options;
  const { onStderr, onStdout } = options;
  const written = { stdout: '', stderr: '' };
  const output = (name: keyof typeof written) => ({
    isTTY,
    columns,
    write(text: string | Uint8Array) {
      written[name] += text;
      if (name === 'stderr') onStderr?.(written.stderr);
      else onStdout?.(written.stdout);
      return true;
    },
  });
  const streams = {
    stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY }),
    stdout: output('stdout'),
    stderr: output('stderr'),
  };
  const status = await runCli(args, { env, cwd, ...streams, maxCheckMs });
  return { status, ...written };
}
