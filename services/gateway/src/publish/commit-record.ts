import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { findRecord } from '@echodrop/archive/find-record';
import { ownerHash } from '@echodrop/archive/owner';
import { recordKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import {
  decodeStoredRecord,
  encodeStoredRecord,
  isTombstone,
  newMediaId,
  type StoredRecord,
  type Tombstone,
} from '@echodrop/record';
import { Refusal } from '../answer/refusals.ts';

/** How long the gateway retries a record, and its list entries. */
export const commitMs = 15_000;
const pauseMs = 250;

/** Whose a record is. */
export type Owner = Pick<StoredRecord, 'provider' | 'subject' | 'application'>;

/**
 * Writes a record. A try either publishes it, or leaves open whether it did: then the record is read back. The id is kept as long as it may be ours.
 * @param isClaimed whether an earlier attempt of the same upload may have written a record under this id, which is the answer then
 * @returns the record that is in the store
 * @throws Refusal `removed`; else the record may have been written: StoreUnavailable after 15 s, UnreadableRecord
 */
export async function commitRecord(
  store: ObjectStore,
  record: StoredRecord,
  isClaimed: boolean,
): Promise<StoredRecord> {
  const bytes = encodeStoredRecord(record);
  return retried(async () => {
    if (await writeTwice(store, record.id, bytes)) return record;
    const found = await findRecord(store, record.id);
    // A node of the store that was away for a moment can answer so.
    if (!found) throw new StoreUnavailable('the store does not find the record that it has');
    const earlier = recordOf(record, found);
    const isOurs = earlier?.mediaKey === record.mediaKey;
    if (isOurs && !isDeepStrictEqual(earlier, decodeStoredRecord(bytes)))
      throw new StoreUnavailable('the store has kept another record than it confirmed');
    if (earlier && (isClaimed || isOurs)) return earlier;
    return commitRecord(store, { ...record, id: newMediaId() }, false);
  });
}

/**
 * Writes a record twice at once: a store can confirm what it does not keep, so one of the two must find the other.
 * @returns whether one was written and the other found it; else another record may be there
 * @throws StoreUnavailable
 */
async function writeTwice(store: ObjectStore, id: string, bytes: Buffer): Promise<boolean> {
  const put = () => store.putIfAbsent(recordKey(id), bytes);
  const writes = await Promise.allSettled([put(), put()]);
  const outcomes = writes.map((write) => (write.status === 'fulfilled' ? write.value : write.reason));
  if (outcomes.includes('exists')) return outcomes.includes('created');
  if (outcomes.includes('differs')) return false;
  const failure = outcomes.find((outcome) => outcome !== 'created');
  throw failure ?? new StoreUnavailable('the store has not kept the record that it confirmed');
}

/** The record, if it is of this user and application. @throws Refusal `removed` if it was, and is a tombstone */
export function recordOf(
  { provider, subject, application }: Owner,
  found: StoredRecord | Tombstone,
): StoredRecord | undefined {
  if (isTombstone(found)) {
    if (found.owner === ownerHash({ provider, subject })) throw new Refusal('removed');
    return undefined;
  }
  const isTheirs = found.provider === provider && found.subject === subject && found.application === application;
  return isTheirs ? found : undefined;
}

/** Retries `work` while the store is unavailable. @throws StoreUnavailable after `commitMs` */
export async function retried<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + commitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > end) throw error;
      await sleep(pauseMs);
    }
  }
}
