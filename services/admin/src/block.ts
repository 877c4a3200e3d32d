import { type Blockable, block, blockKey, readBlocks, UnreadableBlock, unblock } from '@echodrop/archive/blocks';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type Audit, CommandFailed } from './command-context.ts';
import { describeUnreadableBlock } from './describe-unreadable.ts';
import { quoteName } from './name-arguments.ts';

const recentUploads = 200;

/** Blocks uploads of a user or application. @returns a line to print @throws StoreUnavailable */
export async function blockUploads(store: ObjectStore, target: Blockable, audit: Audit): Promise<string> {
  audit({ action: 'block', ...auditedTarget(target) });
  await block(store, target, new Date());
  const searched =
    target.kind === 'user' ? 'No uploads found' : `None of the newest ${recentUploads} uploads is from it`;
  const hint = (await hasUploaded(store, target))
    ? ''
    : ` ${searched}; compare the spelling with the output of \`admin list\`.`;
  return `Blocked ${describe(target)}, effective within 10 seconds.${hint} Existing uploads stay.`;
}

/** Lifts a block. @returns a line to print @throws StoreUnavailable */
export async function unblockUploads(store: ObjectStore, target: Blockable, audit: Audit): Promise<string> {
  if (!(await store.stat(blockKey(target)))) return `Not blocked: ${describe(target)}.`;
  audit({ action: 'unblock', ...auditedTarget(target) });
  await unblock(store, target);
  return `Unblocked ${describe(target)}, effective within 10 seconds.`;
}

/** Describes each block in a line. @throws StoreUnavailable; CommandFailed at the end if one is unreadable */
export async function* listBlocks(store: ObjectStore): AsyncGenerator<string> {
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
