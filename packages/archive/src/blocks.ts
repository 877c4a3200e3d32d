import { listKeys } from '@echodrop/object-store/list-objects';
import { blocksPrefix, userBlockKey } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch, type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { ObjectTooLarge, readSmallObject } from '@echodrop/object-store/read-small-object';
import { maxTextLengths } from '@echodrop/record';
import { z } from 'zod';
import { isOwnerHash, nameHash, ownerHash } from './owner.ts';
import { storedTime } from './stored-time.ts';

const user = z.object({
  kind: z.literal('user'),
  provider: z.string().max(maxTextLengths.provider),
  subject: z.string().max(maxTextLengths.subject),
});
const application = z.object({ kind: z.literal('application'), name: z.string().max(maxTextLengths.application) });
const blockShape = z.union([user.extend({ since: storedTime }), application.extend({ since: storedTime })]);
// Above the largest block: names may be long, and JSON may spell a character in six bytes.
const maxBlockBytes = 2 ** 20;

/** A user, or an application by the name of its API key. */
export type Blockable = z.infer<typeof user> | z.infer<typeof application>;

type Block = z.infer<typeof blockShape>;

/** The object at a block's key is not a valid block. The user or application is blocked all the same: only the key counts. */
export class UnreadableBlock extends Error {
  override readonly name = 'UnreadableBlock';
}

/** Blocks uploads of `who`; an earlier block keeps its time. @throws StoreUnavailable */
export async function block(store: ObjectStore, who: Blockable, at: Date): Promise<void> {
  const key = blockKey(who);
  // On a store that ignores conditions, `putIfAbsent` would replace an earlier block unless this process has probed the store.
  if (await store.exists(key)) return;
  await store.putIfAbsent(key, Buffer.from(JSON.stringify({ ...who, since: at.toISOString() })));
  if (!(await store.exists(key))) throw new StoreUnavailable('block missing after a confirmed write');
}

/** @throws StoreUnavailable */
export async function unblock(store: ObjectStore, who: Blockable): Promise<void> {
  await store.remove(blockKey(who));
}

/** The key of a block. */
export function blockKey(who: Blockable): string {
  return who.kind === 'user' ? userBlockKey(ownerHash(who)) : `${blocksPrefix('applications')}${nameHash(who.name)}`;
}

/** The keys of all blocks; skips other objects. @throws StoreUnavailable */
export async function* listBlockKeys(store: ObjectStore): AsyncGenerator<string> {
  for (const prefix of [blocksPrefix('users'), blocksPrefix('applications')])
    for await (const key of listKeys(store, prefix)) if (isBlockKey(key)) yield key;
}

/** All blocks; skips other objects. @throws StoreUnavailable */
export async function* readBlocks(store: ObjectStore): AsyncGenerator<{ key: string; found: Block | UnreadableBlock }> {
  for await (const key of listBlockKeys(store)) {
    const found = await tryReadBlock(store, key);
    if (found) yield { key, found };
  }
}

/** The block of `who`; undefined if `who` is not blocked. @throws StoreUnavailable */
export function findBlock(store: ObjectStore, who: Blockable): Promise<Block | UnreadableBlock | undefined> {
  return tryReadBlock(store, blockKey(who));
}

function isBlockKey(key: string): boolean {
  return isOwnerHash(key.slice(key.lastIndexOf('/') + 1)) && key.split('/').length === 3;
}

async function tryReadBlock(store: ObjectStore, key: string): Promise<Block | UnreadableBlock | undefined> {
  try {
    const bytes = await readSmallObject(store, key, maxBlockBytes);
    return bytes && decodeBlock(bytes, key);
  } catch (error) {
    if (!(error instanceof ObjectTooLarge || error instanceof ChecksumMismatch)) throw error;
    return new UnreadableBlock(error.message, { cause: error });
  }
}

function decodeBlock(bytes: Buffer, key: string): Block | UnreadableBlock {
  try {
    const block = blockShape.parse(JSON.parse(bytes.toString()));
    return blockKey(block) === key ? block : new UnreadableBlock('block of another user or application');
  } catch (cause) {
    return new UnreadableBlock('invalid block', { cause });
  }
}
