import { buffer } from 'node:stream/consumers';
import { listObjects } from '@echodrop/object-store/list-objects';
import { blocksPrefix, userBlockKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { z } from 'zod';
import { nameHash, ownerHash } from './owner.ts';

const user = z.object({ kind: z.literal('user'), provider: z.string(), subject: z.string() });
const application = z.object({ kind: z.literal('application'), name: z.string() });
const since = z.iso.datetime().transform((time) => new Date(time));
const blockShape = z.union([user.extend({ since }), application.extend({ since })]);

/** A user, or an application by the name of its API key. */
export type Blockable = z.infer<typeof user> | z.infer<typeof application>;

type Block = z.infer<typeof blockShape>;

/** Blocks uploads of `who`; an earlier block keeps its time. @throws StoreUnavailable */
export async function block(store: ObjectStore, who: Blockable, at: Date): Promise<void> {
  const key = blockKey(who);
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

/** The keys of all blocks. @throws StoreUnavailable */
export async function listBlockKeys(store: ObjectStore): Promise<string[]> {
  const prefixes = [blocksPrefix('users'), blocksPrefix('applications')];
  const lists = prefixes.map((prefix) => Array.fromAsync(listObjects(store, prefix), ({ key }) => key));
  return (await Promise.all(lists)).flat();
}

/** @throws StoreUnavailable; Error if an object is not a block */
export async function readBlocks(store: ObjectStore): Promise<Block[]> {
  const blocks = [];
  for (const key of await listBlockKeys(store)) blocks.push(await readBlock(store, key));
  return blocks.filter((block) => block !== undefined);
}

/** Undefined if `who` is not blocked. @throws StoreUnavailable; Error if the object is not a block */
export function findBlock(store: ObjectStore, who: Blockable): Promise<Block | undefined> {
  return readBlock(store, blockKey(who));
}

async function readBlock(store: ObjectStore, key: string): Promise<Block | undefined> {
  const reading = await store.read(key);
  return reading && blockShape.parse(JSON.parse((await buffer(reading.body)).toString()));
}
