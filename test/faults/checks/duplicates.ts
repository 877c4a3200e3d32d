import type { LedgerEntry } from '../ledger.ts';
import type { Finding } from './finding.ts';
import type { RecordInStore } from './stored-records.ts';

/** The finding for a key with more than one record. */
export const duplicate = 'idempotency key with more than one record';

/**
 * Finds uploads with an idempotency key, or sent only once, that have several records with their text. The acknowledged record
 * counts even after its removal. Without a key, a repeat is another upload.
 */
export function findDuplicates(
  entries: readonly LedgerEntry[],
  records: ReadonlyMap<string, RecordInStore>,
): Finding[] {
  const byText = Map.groupBy(records.values(), ({ text }) => text);
  return entries.flatMap(({ scenario, text, isKeyed, attempts, id }) => {
    const ids = new Set([...(id ? [id] : []), ...(byText.get(text) ?? []).map((record) => record.id)]);
    if (ids.size < 2 || (!isKeyed && attempts > 1)) return [];
    const what = isKeyed ? duplicate : 'sent once, but more than one record';
    return [{ scenario, what, which: `${[...ids].join(' ')} ${text}` }];
  });
}
