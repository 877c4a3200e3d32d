import { idInRecordKey } from '@echodrop/archive/records';
import type { StoreFinding } from '@echodrop/archive/store-finding';
import { verifyStore } from '@echodrop/archive/verify-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { CommandFailed, shownKey } from './command-context.ts';
import { describeUnreadable, describeUnreadableBlock } from './describe-unreadable.ts';

type Options = Omit<Parameters<typeof verifyStore>[1], 'olderThanMs'>;

const unsearched =
  'orphans were not searched: this record is unreadable, and may belong to any media. Until it is readable or deleted, sweep deletes no media.';
const dayMs = 24 * 3_600_000;

/**
 * Checks the whole store and yields a line for each fault and orphan. An interrupted check ends with the cursor to continue from.
 * @throws CommandFailed at the end if there are faults; otherwise what interrupted the check
 */
export async function* checkStore(store: ObjectStore, options: Options): AsyncGenerator<string> {
  let cursor = options.after;
  const counts = { records: 0, faults: 0, orphans: 0, unsearched: 0 };
  try {
    for await (const checked of verifyStore(store, { ...options, olderThanMs: dayMs })) {
      for (const found of checked.findings) {
        counts[kindOf(found)] += 1;
        yield `${shownKey(found.key)}: ${describeFinding(found)}`;
      }
      cursor = checked.cursor;
      if (idInRecordKey(cursor) !== undefined) counts.records += 1;
    }
  } catch (error) {
    if (cursor !== undefined) yield `To continue: --after ${shownKey(cursor)}`;
    throw error;
  }
  const range = options.after === undefined ? '' : ' after the cursor';
  const orphans = counts.unsearched > 0 ? 'orphans not searched' : `${counts.orphans} orphans`;
  yield `Checked ${counts.records} records${range}: ${orphans}, ${counts.faults} faults.`;
  if (counts.faults > 0 || counts.unsearched > 0) throw new CommandFailed('The store has faults.');
}

// A record may have any text as the tag.
function shownTag(tag: string): string {
  return /^[\w-]{1,80}$/.test(tag) ? tag : quoteForTerminal(tag);
}

/** What was found and what to do about it. */
function describeFinding(found: StoreFinding): string {
  if ('unsearched' in found) return unsearched;
  return 'fault' in found ? `FAULT: ${describeFault(found)}` : describeOrphan(found);
}

function kindOf(found: StoreFinding): 'faults' | 'orphans' | 'unsearched' {
  if ('unsearched' in found) return 'unsearched';
  return 'fault' in found ? 'faults' : 'orphans';
}

function describeFault(found: Extract<StoreFinding, { fault: string }>): string {
  switch (found.fault) {
    case 'record_unreadable':
      return describeUnreadable(found.id, found.error);
    case 'block_unreadable':
      return describeUnreadableBlock(found.error);
    case 'state_unreadable':
      return 'state of a resumable upload unreadable. Delete these objects; until then sweep deletes no orphans, for up to 30 days.';
    case 'unknown_object':
      return 'not an object of Echodrop. Delete it, or move it elsewhere.';
    case 'no_record':
      return 'not a record, but stored among the records. Delete it, or move it elsewhere.';
    case 'media_missing':
      return `media of ${found.id} is missing. Restore it from a backup, or delete the upload: remove ${found.id}`;
    case 'media_of_other_size':
      return `media of ${found.id} has ${found.stored} bytes; its record says ${found.recorded}. Restore it from a backup.`;
    case 'media_of_other_tag':
      return (
        `media of ${found.id} has the tag ${shownTag(found.stored)}; its record says ${shownTag(found.recorded)}. If it was copied from another store, ` +
        'use --moved; otherwise restore it from a backup.'
      );
    case 'media_spoiled':
      return `media of ${found.id} is corrupt (${found.why}). Restore it from a backup.`;
    case 'not_listed':
      return `listing entry of ${found.id} is missing. Run rebuild-listings.`;
    case 'lists_nothing':
      return 'listing entry without a published upload. Run rebuild-listings.';
    case 'removal_unfinished':
      return `left by an unfinished deletion of ${found.id}. Finish it: remove ${found.id}`;
  }
}

function describeOrphan({ leftover, size, age }: Extract<StoreFinding, { leftover: string }>): string {
  const orphan = `${leftover === 'media' ? 'orphaned media' : 'rendition of orphaned media'}, ${size} bytes`;
  return age === 'young'
    ? `${orphan}, younger than a day: may be an upload in progress.`
    : `${orphan}: sweep deletes it.`;
}
