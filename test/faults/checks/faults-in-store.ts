import { verifyStore } from '@echodrop/archive/verify-store';
import type { System } from '../start-system.ts';
import type { Finding } from './finding.ts';

const concurrency = 16;

// Dead gateways leave entries that list nothing (docs/decisions/017). Missing entries are for findRecordsUnlisted, which knows what the sweep spared.
const othersFind = ['lists_nothing', 'not_listed'];

/** What `verify-store --bytes` finds after the sweep. */
export async function findFaultsInStore({ store }: System): Promise<Finding[]> {
  const found: Finding[] = [];
  const { signal } = new AbortController();
  const how = { concurrency, isMoved: false, shouldReadBytes: true, olderThanMs: 0, signal };
  try {
    for await (const { findings } of verifyStore(store, how)) {
      for (const finding of findings)
        if ('fault' in finding && !othersFind.includes(finding.fault))
          found.push({ scenario: 'all', what: `verify-store: ${finding.fault}`, which: finding.key });
    }
  } catch (error) {
    found.push({ scenario: 'all', what: 'verify-store failed', which: String(error) });
  }
  return found;
}
