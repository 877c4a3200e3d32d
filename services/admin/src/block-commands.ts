import type { Blockable } from '@echodrop/archive/blocks';
import type { Command } from 'commander';
import { blockUploads, listBlocks, unblockUploads } from './block.ts';
import { type CommandContext, printFromStore } from './command-context.ts';
import { applicationArgument, providerArgument, subjectArgument } from './name-arguments.ts';

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
      .argument(...providerArgument)
      .argument(...subjectArgument)
      .action((provider: string, subject: string) => apply({ kind: 'user', provider, subject }));
    admin
      .command(`${verb}-application`)
      .description(`${summary} an application`)
      .argument(...applicationArgument)
      .action((name: string) => apply({ kind: 'application', name }));
  }
  admin
    .command('blocks')
    .description('list blocked users and applications')
    .action(() => printFromStore(context, listBlocks));
}
