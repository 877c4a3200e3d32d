import { verifyStore } from '@echodrop/archive/verify-store';
import { recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { CommandFailed } from './command-failed.ts';
import { describeStoreFinding } from './describe-store-finding.ts';

type Options = Omit<Parameters<typeof verifyStore>[1], 'olderThanMs'>;

const dayMs = 24 * 3_600_000;

/**
 * Checks the whole store and yields a line for each fault and orphan. An interrupted check ends with the cursor to continue from.
 * @throws CommandFailed at the end if there are faults; otherwise what interrupted the check
 */
export async function* checkStore(store: ObjectStore, options: Options): AsyncGenerator<string> {
  let cursor = options.after;
  const counts = { records: 0, faults: 0, orphans: 0 };
  try {
    for await (const checked of verifyStore(store, { ...options, olderThanMs: dayMs })) {
      for (const found of checked.findings) {
        counts['fault' in found ? 'faults' : 'orphans'] += 1;
        yield describeStoreFinding(found);
      }
      cursor = checked.cursor;
      if (cursor.startsWith(recordsPrefix)) counts.records += 1;
    }
  } catch (error) {
    if (cursor !== undefined) yield `To continue: --after ${cursor}`;
    throw error;
  }
  const range = options.after === undefined ? '' : ' after the cursor';
  yield `Checked ${counts.records} records${range}: ${counts.orphans} orphans, ${counts.faults} faults.`;
  if (counts.faults > 0) throw new CommandFailed('The store has faults.');
}
