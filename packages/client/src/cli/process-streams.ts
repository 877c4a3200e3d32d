import type { CommandContext } from './command-context.ts';
import { describeError } from './describe-error.ts';

// A program that a closed pipe ends has this status: 128 and the number of SIGPIPE.
const closedPipe = 141;

/** The streams of this process. It ends as soon as it cannot write: the reader of a pipe is gone, as with `| head -1`, or a disk is full. */
export function processStreams(): Pick<CommandContext, 'stdin' | 'stdout' | 'stderr'> {
  const { stdin, stdout, stderr } = process;
  for (const output of [stdout, stderr])
    output.on('error', (error: NodeJS.ErrnoException) => {
      const isClosed = error.code === 'EPIPE';
      if (!isClosed && output === stdout) stderr.write(`Cannot write to standard output: ${describeError(error)}\n`);
      process.exit(isClosed ? closedPipe : 1);
    });
  return { stdin, stdout, stderr };
}
