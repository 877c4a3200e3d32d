import { buffer } from 'node:stream/consumers';
import { listObjects } from '@echodrop/object-store/list-objects';
import { blocksPrefix, userBlockKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { z } from 'zod';
import { nameHash, ownerHash } from './owner.ts';

const user = z.object({ kind: z.literal('user'), provider: z.string(), subject: z.string() });
const application = z.object({ kind: z.literal('application'), name: z.string() });
const since = z.iso.datetime().transform((time) => new Date(time));
const blockShape = z.union([user.extend({ since }), application.extend({ since })]);

/** Who may not upload: a user, or an application by the name that the operator gave to its API key. */
export type Blockable = z.infer<typeof user> | z.infer<typeof application>;

/** A block as it is kept. */
export type Block = z.infer<typeof blockShape>;

/** Blocks `who`; where that was said before, `at` is not believed. @throws StoreUnavailable */
export async function block(store: ObjectStore, who: Blockable, at: Date): Promise<void> {
  await store.putIfAbsent(blockKey(who), Buffer.from(JSON.stringify({ ...who, since: at.toISOString() })));
}

/** Lets `who` upload again. @throws StoreUnavailable */
export async function unblock(store: ObjectStore, who: Blockable): Promise<void> {
  await store.remove(blockKey(who));
}

/** Where the block of `who` lies, if there is one. */
export function blockKey(who: Blockable): string {
  return who.kind === 'user' ? userBlockKey(ownerHash(who)) : `${blocksPrefix('applications')}${nameHash(who.name)}`;
}

/** Where all blocks lie that there are. @throws StoreUnavailable */
export async function listBlockKeys(store: ObjectStore): Promise<string[]> {
  const prefixes = [blocksPrefix('users'), blocksPrefix('applications')];
  const lists = prefixes.map((prefix) => Array.fromAsync(listObjects(store, prefix), ({ key }) => key));
  return (await Promise.all(lists)).flat();
}

/** All blocks that there are. @throws StoreUnavailable; Error where what lies there is no block */
export async function readBlocks(store: ObjectStore): Promise<Block[]> {
  const blocks = [];
  for (const key of await listBlockKeys(store)) {
    const reading = await store.read(key);
    if (reading) blocks.push(blockShape.parse(JSON.parse((await buffer(reading.body)).toString())));
  }
  return blocks;
}
