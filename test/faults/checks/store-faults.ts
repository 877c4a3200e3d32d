import { verifyStore } from '@echodrop/archive/verify-store';
import type { System } from '../start-system.ts';
import type { Finding } from './finding.ts';

const concurrency = 16;

// Killed gateways leave entries without a record (docs/decisions/listings-and-removals.md). findRecordsMissingFromListings checks for missing entries.
const ignored = 'listing entry ';

/** The faults that `verify-store --bytes` finds after the sweep. */
export async function findStoreFaults({ store }: System): Promise<Finding[]> {
  const found: Finding[] = [];
  const options = { concurrency, isMoved: false, shouldReadBytes: true };
  try {
    for await (const { findings } of verifyStore(store, options)) {
      for (const { kind, key, text } of findings)
        if (kind === 'fault' && !text.startsWith(ignored))
          found.push({ scenario: 'all', what: `verify-store: ${text}`, which: key });
    }
  } catch (error) {
    found.push({ scenario: 'all', what: 'verify-store failed', which: String(error) });
  }
  return found;
}
