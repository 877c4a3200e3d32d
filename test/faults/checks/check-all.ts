import type { LedgerEntry } from '../ledger.ts';
import type { RunningService, System } from '../start-system.ts';
import { findDamaged } from './damaged.ts';
import { findDuplicates } from './duplicates.ts';
import type { Finding } from './finding.ts';
import { findOrphans, findStuckJobs } from './left-behind.ts';
import { findMissingFromListings, findRecordsMissingFromListings } from './listed.ts';
import { findWronglyRefused } from './refused.ts';
import { findNotRemoved } from './removed.ts';
import { findLeaks, findUnready, type Held } from './services.ts';
import { findStoreFaults } from './store-faults.ts';
import { recordsIn } from './stored-records.ts';

interface Expected {
  /** Resources of services before the first fault. */
  readonly before: ReadonlyMap<RunningService, Held>;
  /** The longest time without a finished job while jobs remain. */
  readonly jobsMs: number;
}

/** Finds all faults after a game day, when no upload is running. Sweeps after checking lists and removals. */
export async function checkAll(
  system: System,
  entries: readonly LedgerEntry[],
  { before, jobsMs }: Expected,
): Promise<Finding[]> {
  const acknowledged = entries.filter(({ outcome }) => outcome === 'acknowledged');
  const unready = await findUnready(system);
  const stuck = await findStuckJobs(system, jobsMs);
  const { records, tombstones } = await recordsIn(system.store);
  // A removal without a response may have failed, but must be consistent.
  const isRemoved = ({ id = '', removal }: LedgerEntry) =>
    removal === 'acknowledged' || (removal === 'unknown' && tombstones.has(id));
  const kept = acknowledged.filter((entry) => !isRemoved(entry));
  const removed = acknowledged.filter(isRemoved);
  const notListed = await findMissingFromListings(system, { kept, removed, records });
  const notRemoved = await findNotRemoved(system, removed, tombstones);
  const sweptAt = Date.now();
  const orphans = await findOrphans(system, records);
  return [
    ...unready,
    ...notListed,
    ...(await findDamaged(system, kept, records)),
    ...notRemoved,
    ...findWronglyRefused(entries, records),
    ...(await findStoreFaults(system)),
    ...findDuplicates(entries, records),
    ...(await findRecordsMissingFromListings(system, sweptAt)),
    ...orphans,
    ...stuck,
    ...(await findLeaks(system, before)),
  ];
}
