import { InvalidSettings } from '@echodrop/service/env';
import { escapeLine, escapeLines } from '@echodrop/service/terminal-text';
import { Command, CommanderError } from 'commander';
import { addBlockCommands } from './block.ts';
import type { Audit } from './command-context.ts';
import { addProviderCommands } from './provider-commands.ts';
import { addStoreCommands } from './store-commands.ts';
import { addSweepCommand } from './sweep-command.ts';
import { addUploadCommands } from './upload-commands.ts';

const help = `
Exit status:
  0    success
  1    the command failed, or verify-store, store-test or provider-test found faults
  2    invalid options, number of arguments, or settings
  141  the program that reads the output exited, as with \`| head -1\`
`;

interface Output {
  readonly stdout: Pick<NodeJS.WritableStream, 'write'>;
  readonly stderr: Pick<NodeJS.WritableStream, 'write'> & { readonly isTTY?: boolean };
}

/** Runs the command in `args` with the settings in `env`, until `signal` interrupts it. @returns the exit status */
export async function runAdmin(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  output: Output,
  signal = new AbortController().signal,
): Promise<number> {
  try {
    await adminProgram(env, output, signal).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has written its own messages.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof InvalidSettings) {
      output.stderr.write(`${escapeLines(error.message)}\n`);
      return 2;
    }
    output.stderr.write(`${escapeLine(describeError(error))}\n`);
    return 1;
  }
}

/** All commands; each runs with the settings in `env`, until `signal` interrupts it. */
export function adminProgram(
  env: NodeJS.ProcessEnv,
  { stdout, stderr }: Output,
  signal = new AbortController().signal,
): Command {
  const admin = new Command('admin')
    .description(
      'Commands for operators. Settings come from the environment. A secret can also come from a file: instead of S3_SECRET_KEY, for example, ' +
        'set S3_SECRET_KEY_FILE to the path of the file. ' +
        'Without settings, commands use the system of `npm start`. If you set variables for `npm start`, set the same for admin. ' +
        'provider-test needs a provider: name it as an argument or in IDENTITY_PROVIDERS.',
    )
    .helpCommand(false)
    .showHelpAfterError('(--help shows usage)')
    .exitOverride()
    .addHelpText('after', help)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(escapeLines(text)) });
  const writeTo = (stream: Output['stdout']) => (line: string) => void stream.write(`${escapeLine(line)}\n`);
  const log = writeTo(stderr);
  // The line is escaped like those of a service's log.
  const audit: Audit = (action) =>
    log(JSON.stringify({ level: 'info', time: new Date().toISOString(), service: 'admin', audit: true, ...action }));
  const progressMs = stderr.isTTY ? 5000 : 60_000;
  const context = { env, print: writeTo(stdout), log, audit, progressMs, signal };
  addUploadCommands(admin, context);
  addBlockCommands(admin, context);
  addProviderCommands(admin, context);
  addStoreCommands(admin, context);
  addSweepCommand(admin, context);
  return admin;
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause ? `${error.message} (${cause.message || cause.code})` : error.message;
}
