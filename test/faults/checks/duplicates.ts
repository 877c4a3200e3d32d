import type { LedgerEntry } from '../ledger.ts';
import type { Finding } from './finding.ts';
import type { RecordInStore } from './stored-records.ts';

/** What the finding says of a key that has more than one record. */
export const duplicate = 'its idempotency key has more than one record';

/** Which uploads with an idempotency key have more than one record. Without a key a repeat is another upload. */
export function findDuplicates(
  entries: readonly LedgerEntry[],
  records: ReadonlyMap<string, RecordInStore>,
): Finding[] {
  const byText = Map.groupBy(records.values(), ({ text }) => text);
  return entries.flatMap(({ scenario, text, isKeyed }) => {
    const ids = (byText.get(text) ?? []).map(({ id }) => id);
    return isKeyed && ids.length > 1 ? [{ scenario, what: duplicate, which: `${ids.join(' ')} ${text}` }] : [];
  });
}
