import type { LedgerEntry } from '../ledger.ts';
import type { Finding } from './finding.ts';
import type { RecordInStore } from './stored-records.ts';

// All uploads are valid and authorized, so only injected faults may cause refusals.
const unexpected = /^(200|400|404|405|411|413|415|500|504)/;
// The record may have been written (docs/why/reliability.md).
const inconclusive = /^503/;

/** Finds valid uploads refused as invalid, and uploads that are published although their only attempt was refused. */
export function findWronglyRefused(
  entries: readonly LedgerEntry[],
  records: ReadonlyMap<string, RecordInStore>,
): Finding[] {
  const published = new Set([...records.values()].map(({ text }) => text));
  return entries.flatMap(({ scenario, outcome, attempts, text, why = '' }) => {
    if (outcome !== 'refused') return [];
    if (unexpected.test(why)) return [{ scenario, what: `wrongly refused with ${why}`, which: text }];
    const isShown = attempts === 1 && !inconclusive.test(why) && published.has(text);
    return isShown ? [{ scenario, what: `refused with ${why}, but published`, which: text }] : [];
  });
}
