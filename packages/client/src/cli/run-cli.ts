import { escapeLines } from '@echodrop/service/terminal-text';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { RequestRefused } from '../client-errors.ts';
import { addAccountCommands } from './account-commands.ts';
import { type CommandContext, PartFailed, printError, UsageError } from './command-context.ts';
import { describeError } from './describe-error.ts';
import { addOwnUploadsCommands } from './own-uploads-commands.ts';
import { addUploadCommand } from './upload-command.ts';

const help = `
Examples:
  echodrop login https://photos.example
  echodrop upload sea.jpg --message 'At the sea'
  echodrop list
  echodrop rm 4AaBXzv6nZ

Exit status:
  0    success
  1    an upload or another operation failed, the provider rejected the token, or output could not be written
  2    nothing was uploaded or deleted: invalid arguments, not signed in, or expired sign-in (run \`echodrop login\`)
  141  the program that reads the output exited, as with \`| head -1\`
`;

interface CliOptions {
  /** Whether the program runs as `npm run <command> --`, for the system of `npm start`. */
  readonly isLocal?: boolean;
}

/** Runs the command in `args`. @returns the exit status */
export async function runCli(
  args: readonly string[],
  context: CommandContext,
  options: CliOptions = {},
): Promise<number> {
  try {
    const program = cliProgram(context, options);
    await program.parseAsync(withoutUnknownHelp(args, program), { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has written its own messages.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof PartFailed) return 1;
    // Otherwise the message of a service would begin a row.
    const title = error instanceof RequestRefused ? 'Refused: ' : '';
    printError(context, `${title}${describeError(error)}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

// For `help` with an unknown command, commander prints its help only. Without `help` it says that the command is unknown.
function withoutUnknownHelp(args: readonly string[], program: Command): readonly string[] {
  const [first, name] = args;
  const isUnknown = first === 'help' && name && !program.commands.some((command) => command.name() === name);
  return isUnknown ? [name] : args;
}

/** All commands; each runs in `context`. */
export function cliProgram(context: CommandContext, { isLocal = false }: CliOptions = {}): Command {
  const { stdout, stderr } = context;
  const program = new Command('echodrop')
    .description('Upload photos and videos to an Echodrop server.')
    .version(manifest.version)
    .showHelpAfterError('(--help shows usage)')
    .exitOverride()
    .addHelpText('after', help)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(escapeLines(text)) });
  if (isLocal) program.configureHelp({ commandUsage: (command) => `npm run ${command.name()} -- ${command.usage()}` });
  addAccountCommands(program, context, isLocal);
  addUploadCommand(program, context, isLocal);
  addOwnUploadsCommands(program, context);
  return program;
}
