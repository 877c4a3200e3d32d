import { type Block, type Blockable, block, blockKey, readBlocks, unblock } from '@echodrop/archive/blocks';
import { listNewest } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { Audit } from './audit.ts';
import { onOneLine } from './on-one-line.ts';

const lookedAt = 200;

/** Blocks somebody from uploading. @returns one line for people @throws StoreUnavailable */
export async function blockUploads(store: ObjectStore, who: Blockable, audit: Audit): Promise<string> {
  audit({ act: 'block', ...actedOn(who) });
  await block(store, who, new Date());
  const hint = (await isKnown(store, who))
    ? ''
    : ' They have uploaded nothing so far: are they spelled as list shows it?';
  return `From ten seconds on, uploads of ${named(who)} are refused.${hint} What was uploaded stays.`;
}

/** Lets somebody upload again. @returns one line for people @throws StoreUnavailable */
export async function unblockUploads(store: ObjectStore, who: Blockable, audit: Audit): Promise<string> {
  if (!(await store.stat(blockKey(who)))) return `${named(who)} is not blocked.`;
  audit({ act: 'unblock', ...actedOn(who) });
  await unblock(store, who);
  return `From ten seconds on, uploads of ${named(who)} are taken again.`;
}

/** Who is blocked, a line each. @throws StoreUnavailable */
export async function listBlocks(store: ObjectStore): Promise<string[]> {
  const blocks = await readBlocks(store);
  return blocks.length === 0 ? ['Nobody is blocked.'] : blocks.map(blockLine);
}

// An application's uploads are in no list of their own.
async function isKnown(store: ObjectStore, who: Blockable): Promise<boolean> {
  const owner = who.kind === 'user' ? ownerHash(who) : undefined;
  const { records } = await listNewest(store, { owner, limit: lookedAt });
  return records.some((record) => who.kind === 'user' || record.application === who.name);
}

function blockLine(said: Block): string {
  return `${said.since.toISOString()}  ${named(said)}`;
}

function named(who: Blockable): string {
  return who.kind === 'user'
    ? `user ${onOneLine(who.subject)} of ${onOneLine(who.provider)}`
    : `application ${onOneLine(who.name)}`;
}

function actedOn(who: Blockable) {
  return who.kind === 'user' ? { provider: who.provider, subject: who.subject } : { application: who.name };
}
