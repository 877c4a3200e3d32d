import type { LedgerEntry } from '../ledger.ts';
import type { System } from '../start-system.ts';
import { type Finding, findEach } from './finding.ts';

/** Which uploads are still shown, or have no tombstone, although their removal was acknowledged. */
export function findNotRemoved(
  { site }: System,
  removed: readonly LedgerEntry[],
  tombstones: ReadonlySet<string>,
): Promise<Finding[]> {
  return findEach(removed, async ({ id = '', scenario, text }) => {
    const finding = (what: string): Finding => ({ scenario, what, which: `${id} ${text}` });
    if (!tombstones.has(id)) return [finding('its removal was acknowledged, and it has no tombstone')];
    const page = await fetch(`${site}/${id}`);
    await page.body?.cancel();
    return page.status === 410 ? [] : [finding(`it was removed, and its page is answered with ${page.status}`)];
  });
}
