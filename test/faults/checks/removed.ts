import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import { waitUntil } from '@echodrop/testkit/wait-until';
import type { LedgerEntry } from '../ledger.ts';
import type { System } from '../start-system.ts';
import { type Finding, findEach } from './finding.ts';

/** Finds removed uploads that still have a page, have no tombstone, or (if acknowledged) still have media. */
export function findNotRemoved(
  { site, store }: System,
  removed: readonly LedgerEntry[],
  tombstones: ReadonlyMap<string, string>,
): Promise<Finding[]> {
  return findEach(removed, async ({ id = '', scenario, text, removal }) => {
    const finding = (what: string): Finding => ({ scenario, what, which: `${id} ${text}` });
    const mediaKey = tombstones.get(id);
    if (mediaKey === undefined) return [finding('removal acknowledged, but no tombstone')];
    if (removal === 'acknowledged' && (await store.stat(mediaObjectKey(mediaKey))))
      return [finding('removal acknowledged, but media still in the store')];
    const isGone = async () => {
      const page = await fetch(`${site}/${id}`);
      await page.body?.cancel();
      return page.status === 410;
    };
    // The site remembers a record for seconds.
    return waitUntil('status 410', isGone).then(
      () => [],
      () => [finding('removed, but its page does not return 410')],
    );
  });
}
