import { type Blockable, block, blockKey, readBlocks, UnreadableBlock, unblock } from '@echodrop/archive/blocks';
import { describeUnreadableBlock } from '@echodrop/archive/describe-unreadable';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Command } from 'commander';
import { type CommandContext, CommandFailed, printFromStore } from './command-context.ts';
import { applicationArgument, providerArgument, quoteName, subjectArgument } from './name-arguments.ts';

const recentUploads = 200;

/** Adds the commands for blocks: block-user, block-application, unblock-user, unblock-application, blocks. */
export function addBlockCommands(admin: Command, context: CommandContext): void {
  const changes = [
    { action: 'block', summary: 'refuse uploads from', change: blockUploads },
    { action: 'unblock', summary: 'accept uploads again from', change: unblockUploads },
  ] as const;
  for (const { action, summary, change } of changes) {
    const apply = (target: Blockable) => {
      const audit = () => context.audit({ action, ...auditedTarget(target) });
      return printFromStore(context, (store) => change(store, target, audit));
    };
    admin
      .command(`${action}-user`)
      .description(`${summary} a user`)
      .argument(...providerArgument)
      .argument(...subjectArgument)
      .action((provider: string, subject: string) => apply({ kind: 'user', provider, subject }));
    admin
      .command(`${action}-application`)
      .description(`${summary} an application`)
      .argument(...applicationArgument)
      .action((name: string) => apply({ kind: 'application', name }));
  }
  admin
    .command('blocks')
    .description('list blocked users and applications')
    .action(() => printFromStore(context, listBlocks));
}

async function* blockUploads(store: ObjectStore, target: Blockable, audit: () => void): AsyncGenerator<string> {
  audit();
  await block(store, target, new Date());
  const searched =
    target.kind === 'user' ? 'No uploads found' : `None of the newest ${recentUploads} uploads is from it`;
  const hint = (await hasUploaded(store, target))
    ? ''
    : ` ${searched}; compare the spelling with the output of \`admin list\`.`;
  yield `Blocked ${describe(target)}, effective within 10 seconds.${hint} Existing uploads stay.`;
}

async function* unblockUploads(store: ObjectStore, target: Blockable, audit: () => void): AsyncGenerator<string> {
  if (!(await store.stat(blockKey(target)))) return yield `Not blocked: ${describe(target)}.`;
  audit();
  await unblock(store, target);
  yield `Unblocked ${describe(target)}, effective within 10 seconds.`;
}

/** Describes each block in a line. @throws StoreUnavailable; CommandFailed at the end if one is unreadable */
async function* listBlocks(store: ObjectStore): AsyncGenerator<string> {
  let count = 0;
  let unreadable = 0;
  for await (const { key, found } of readBlocks(store)) {
    count += 1;
    if (!(found instanceof UnreadableBlock)) yield `${found.since.toISOString()}  ${describe(found)}`;
    else {
      unreadable += 1;
      yield `${key}: ${describeUnreadableBlock(found)}`;
    }
  }
  if (count === 0) yield 'No blocked users or applications.';
  if (unreadable > 0) throw new CommandFailed(`${unreadable} blocks are unreadable.`);
}

// There is no list of an application's uploads.
async function hasUploaded(store: ObjectStore, target: Blockable): Promise<boolean> {
  const owner = target.kind === 'user' ? ownerHash(target) : undefined;
  const { records } = await listNewest(store, { owner, limit: recentUploads });
  return records.some((record) => target.kind === 'user' || record.application === target.name);
}

function describe(target: Blockable): string {
  return target.kind === 'user'
    ? `user ${quoteName(target.subject)} of ${quoteName(target.provider)}`
    : `application ${quoteName(target.name)}`;
}

function auditedTarget(target: Blockable) {
  return target.kind === 'user' ? { provider: target.provider, subject: target.subject } : { application: target.name };
}
