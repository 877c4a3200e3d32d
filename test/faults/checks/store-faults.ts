import { verifyStore } from '@echodrop/archive/verify-store';
import type { System } from '../start-system.ts';
import type { Finding } from './finding.ts';

const concurrency = 16;

// Killed gateways leave entries without a record (docs/decisions/listings-and-removals.md). findRecordsMissingFromListings checks for missing entries.
const ignoredFaults = ['lists_nothing', 'not_listed'];

/** The faults that `verify-store --bytes` finds after the sweep. */
export async function findStoreFaults({ store }: System): Promise<Finding[]> {
  const found: Finding[] = [];
  const { signal } = new AbortController();
  const options = { concurrency, isMoved: false, shouldReadBytes: true, olderThanMs: 0, signal };
  try {
    for await (const { findings } of verifyStore(store, options)) {
      for (const finding of findings)
        if ('fault' in finding && !ignoredFaults.includes(finding.fault))
          found.push({ scenario: 'all', what: `verify-store: ${finding.fault}`, which: finding.key });
    }
  } catch (error) {
    found.push({ scenario: 'all', what: 'verify-store failed', which: String(error) });
  }
  return found;
}
