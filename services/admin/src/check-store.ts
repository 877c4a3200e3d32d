import { idInRecordKey } from '@echodrop/archive/records';
import { verifyStore } from '@echodrop/archive/verify-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { CommandFailed, shownKey } from './command-context.ts';

type Options = Parameters<typeof verifyStore>[1];

/**
 * Checks the whole store and yields a line for each fault and orphan. An interrupted check ends with the cursor to continue from.
 * @throws CommandFailed at the end if there are faults; otherwise what interrupted the check
 */
export async function* checkStore(store: ObjectStore, options: Options): AsyncGenerator<string> {
  let cursor = options.after;
  let records = 0;
  const counts = { fault: 0, orphan: 0, unsearched: 0 };
  try {
    for await (const checked of verifyStore(store, options)) {
      for (const { key, kind, text } of checked.findings) {
        counts[kind] += 1;
        yield `${shownKey(key)}: ${kind === 'fault' ? 'FAULT: ' : ''}${text}`;
      }
      cursor = checked.cursor;
      if (idInRecordKey(cursor) !== undefined) records += 1;
    }
  } catch (error) {
    if (cursor !== undefined) yield `To continue: --after ${shownKey(cursor)}`;
    throw error;
  }
  const range = options.after === undefined ? '' : ' after the cursor';
  const orphans = counts.unsearched > 0 ? 'orphans not searched' : `${counts.orphan} orphans`;
  yield `Checked ${records} records${range}: ${orphans}, ${counts.fault} faults.`;
  if (counts.fault > 0 || counts.unsearched > 0) throw new CommandFailed('The store has faults.');
}
