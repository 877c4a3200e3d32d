import type { StoreFinding } from '@echodrop/archive/store-finding';
import { verifyStore } from '@echodrop/archive/verify-store';
import { recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Failing } from './failing.ts';
import { isFault, storeFindingLine } from './store-finding-line.ts';

interface Verifying {
  readonly after?: string | undefined;
  readonly atOnce: number;
  readonly isMoved: boolean;
  readonly readsBytes: boolean;
  readonly signal: AbortSignal;
}

const dayMs = 24 * 3_600_000;

/**
 * Looks at everything in the store, and tells in a line each what is wrong and what is left over.
 * @throws Failing at the end where something is wrong; where it comes to no end, what kept it, after a line that tells how to go on
 */
export async function* verified(store: ObjectStore, verifying: Verifying): AsyncGenerator<string> {
  let cursor = verifying.after;
  const counts = { records: 0, wrong: 0, left: 0 };
  try {
    for await (const checked of verifyStore(store, { ...verifying, olderThanMs: dayMs })) {
      for (const found of checked.findings) {
        count(counts, found);
        yield storeFindingLine(found);
      }
      cursor = checked.cursor;
      if (cursor.startsWith(recordsPrefix)) counts.records += 1;
    }
  } catch (error) {
    if (cursor !== undefined) yield `To go on from here: --after ${cursor}`;
    throw error;
  }
  const from = verifying.after === undefined ? '' : ' from the cursor on';
  yield `${counts.records} records were looked at${from}: ${counts.left} leftovers, ${counts.wrong} faults.`;
  if (counts.wrong > 0) throw new Failing('Something is wrong in the store');
}

function count(counts: { wrong: number; left: number }, found: StoreFinding): void {
  if (isFault(found)) counts.wrong += 1;
  else counts.left += 1;
}
