import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { addAccountCommands } from './account-commands.ts';
import { type CommandContext, PartFailed, printError, UsageError } from './command-context.ts';
import { describeError } from './describe-error.ts';
import { addOwnUploadsCommands } from './own-uploads-commands.ts';
import { addUploadCommand, type UploadDefaults } from './upload-command.ts';

const help = `
Examples:
  echodrop login https://photos.example
  echodrop upload sea.jpg --message 'At the sea'
  echodrop list
  echodrop rm 4AaBXzv6nZ

Exit status: 0 success, 1 a failure (others of several files may have been uploaded), 2 invalid arguments or not signed in.
`;

/** Runs the command in `args`. @returns the exit status */
export async function runCli(
  args: readonly string[],
  context: CommandContext,
  uploadDefaults?: UploadDefaults,
): Promise<number> {
  const { stdout, stderr } = context;
  const program = new Command('echodrop')
    .description('Upload photos and videos to an Echodrop server.')
    .version(manifest.version)
    .helpCommand(false)
    .showHelpAfterError('(--help shows usage)')
    .exitOverride()
    .addHelpText('after', help)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) });
  addAccountCommands(program, context);
  addUploadCommand(program, context, uploadDefaults);
  addOwnUploadsCommands(program, context);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has written its own messages.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof PartFailed) return 1;
    printError(context, describeError(error));
    return error instanceof UsageError ? 2 : 1;
  }
}
