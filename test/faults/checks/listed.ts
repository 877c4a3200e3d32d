import { readListingIndex } from '@echodrop/archive/listing-index';
import { listingEntryOf, listingKeys } from '@echodrop/archive/listing-keys';
import { listRecords } from '@echodrop/archive/records';
import { settlingMs } from '@echodrop/archive/settling';
import { listingPrefix } from '@echodrop/object-store/object-keys';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { anotherUser } from '@echodrop/testkit/another-user';
import { echoHeaders } from '@echodrop/testkit/upload';
import type { LedgerEntry } from '../ledger.ts';
import type { System } from '../start-system.ts';
import type { Finding } from './finding.ts';
import { keysBelow, type RecordInStore } from './stored-records.ts';

interface Acknowledged {
  readonly kept: readonly LedgerEntry[];
  readonly removed: readonly LedgerEntry[];
  readonly records: ReadonlyMap<string, RecordInStore>;
}

/** Finds acknowledged uploads that are missing in a list, and removed ones that are still in their owner's list. */
export async function findMissingFromListings(
  system: System,
  { kept, removed, records }: Acknowledged,
): Promise<Finding[]> {
  const own = { signing: await ownList(system, 'signing'), bearer: await ownList(system, 'bearer') };
  const byTime = new Set(await keysBelow(system.store, listingPrefix()));
  const stillListed = removed
    .filter(({ id = '', user }) => own[user].has(id))
    .map(({ id, scenario, text }) => ({
      scenario,
      what: "removed, but still in its owner's list",
      which: `${id} ${text}`,
    }));
  const notListed = kept.flatMap(({ id = '', scenario, user, text }) => {
    const finding = (what: string): Finding => ({ scenario, what, which: `${id} ${text}` });
    const another = user === 'signing' ? 'bearer' : 'signing';
    return [
      ...(own[user].has(id) ? [] : [finding("missing in its owner's list")]),
      ...(own[another].has(id) ? [finding('listed for another user')] : []),
      ...(entriesByTime(records.get(id)).some((key) => byTime.has(key))
        ? []
        : [finding('missing in the list by time')]),
    ];
  });
  return [...notListed, ...stillListed];
}

// An entry counts only with the time of its record.
function entriesByTime(record: RecordInStore | undefined): string[] {
  if (!record) return [];
  return listingKeys({ id: record.id, timestamp: new Date(record.timestamp), owner: '' });
}

/** Finds records without a listing entry after a sweep at `sweptAt`. A sweep skips records of the last minute. */
export async function findRecordsMissingFromListings({ store }: System, sweptAt: number): Promise<Finding[]> {
  const listings = await readListingIndex(store);
  const findings: Finding[] = [];
  for await (const { id, found } of listRecords(store)) {
    if (found instanceof UnreadableRecord) findings.push({ scenario: 'all', what: 'unreadable record', which: id });
    else if (isTombstone(found) || found.timestamp.getTime() >= sweptAt - settlingMs) continue;
    else if (!listings.hasRecord(listingEntryOf(found)))
      findings.push({
        scenario: 'all',
        what: 'record without a listing entry after a sweep',
        which: `${id} ${found.text}`,
      });
  }
  return findings;
}

interface Page {
  readonly media: readonly { readonly id: string }[];
  readonly next?: string;
}

async function ownList(system: System, user: LedgerEntry['user']): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let after: string | undefined; ; ) {
    const query = new URLSearchParams({ count: '100', ...(after !== undefined && { after }) });
    const headers = user === 'bearer' ? anotherUser(system) : echoHeaders(system);
    const response = await fetch(`${system.gateways[0]}/2/media.json?${query}`, { headers });
    if (response.status !== 200) throw new Error(`a list request returned ${response.status} ${await response.text()}`);
    const { media, next } = (await response.json()) as Page;
    for (const { id } of media) ids.add(id);
    if (next === undefined) return ids;
    after = next;
  }
}
