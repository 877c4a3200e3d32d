import type { Blockable } from '@echodrop/archive/blocks';
import { type Command, InvalidArgumentError } from 'commander';
import { blockUploads, listBlocks, unblockUploads } from './block.ts';
import { type CommandContext, printFromStore, providerArgument, subjectArgument } from './command-context.ts';

/** Adds the commands for blocks: block-user, block-application, unblock-user, unblock-application, blocks. */
export function addBlockCommands(admin: Command, context: CommandContext): void {
  const { audit } = context;
  const changes = [
    { verb: 'block', summary: 'refuse uploads from', change: blockUploads },
    { verb: 'unblock', summary: 'accept uploads again from', change: unblockUploads },
  ];
  for (const { verb, summary, change } of changes) {
    const apply = (target: Blockable) => printFromStore(context, async (store) => [await change(store, target, audit)]);
    admin
      .command(`${verb}-user`)
      .description(`${summary} a user`)
      .argument(...providerArgument, nonEmpty)
      .argument(...subjectArgument, nonEmpty)
      .action((provider: string, subject: string) => apply({ kind: 'user', provider, subject }));
    admin
      .command(`${verb}-application`)
      .description(`${summary} an application`)
      .argument(
        '<name>',
        'the application as `list` prints it: the name of its key in API_KEYS, or `key-…` for a key without a name',
        nonEmpty,
      )
      .action((name: string) => apply({ kind: 'application', name }));
  }
  admin
    .command('blocks')
    .description('list blocked users and applications')
    .action(() => printFromStore(context, listBlocks));
}

function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('Must not be empty.');
  return text;
}
