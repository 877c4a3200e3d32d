import type { CommandContext } from './command-context.ts';

// 128 and the number of SIGPIPE: the status of a program that a closed pipe ends.
const closedPipe = 141;

/** The streams of this process. As soon as the reader of a pipe is gone, as with `| head -1`, the process ends. */
export function processStreams(): Pick<CommandContext, 'stdin' | 'stdout' | 'stderr'> {
  const { stdin, stdout, stderr } = process;
  for (const output of [stdout, stderr])
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(closedPipe);
    });
  return { stdin, stdout, stderr };
}
