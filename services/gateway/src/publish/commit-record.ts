import { isDeepStrictEqual } from 'node:util';
import { ownerHash } from '@echodrop/archive/owner';
import { findRecord } from '@echodrop/archive/records';
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
import { retryFor } from '@echodrop/service/retry-for';
import { Refusal } from '../response/refusal-error.ts';

/** Time for retries of a record, and of its listing entries. */
export const commitMs = 15_000;

/** The user and the application of an upload. */
export type Uploader = Pick<StoredRecord, 'provider' | 'subject' | 'application'>;

interface CommitOptions {
  /** Whether an earlier attempt of the same upload may have written a record under this id, which then wins. */
  readonly isClaimed: boolean;
  /** Awaited immediately before each write. What it throws ends the commit. */
  readonly beforeWrite: () => Promise<void>;
}

/**
 * Writes a record, and reads it back if a write has an unknown outcome. Takes a new id only if another upload has a record under this one.
 * @returns the record that is in the store
 * @throws Refusal `removed`; if the record may have been written, StoreUnavailable after 15 s, UnreadableRecord, or what `beforeWrite` throws
 */
export async function commitRecord(
  store: ObjectStore,
  record: StoredRecord,
  { isClaimed, beforeWrite }: CommitOptions,
): Promise<StoredRecord> {
  const bytes = encodeStoredRecord(record);
  return retryCommit(async () => {
    if ((await store.commit(recordKey(record.id), bytes, beforeWrite)) === 'created') return record;
    const found = await findRecord(store, record.id);
    // A node of the store that has just come back may respond like this.
    if (!found) throw new StoreUnavailable('record not found although the store reports that it exists');
    const earlier = ownRecord(record, found);
    const isOurs = earlier?.mediaKey === record.mediaKey;
    if (isOurs && !isDeepStrictEqual(earlier, decodeStoredRecord(bytes, record.id)))
      throw new StoreUnavailable('stored record differs from the one written');
    if (earlier && isClaimed) requireSamePayload(earlier, record);
    if (earlier && (isClaimed || isOurs)) return earlier;
    return commitRecord(store, { ...record, id: newMediaId() }, { isClaimed: false, beforeWrite });
  });
}

/** The fields by which a repeat must equal the first attempt. */
export type Payload = Pick<StoredRecord, 'text' | 'size' | 'crc32'>;

/** Requires a record of an earlier attempt to have this upload's text and bytes. @throws StoreUnavailable */
export function requireSamePayload(record: StoredRecord, { text, size, crc32 }: Payload): void {
  const hasSameBytes = record.size === size && (record.crc32 ?? crc32) === crc32;
  if (record.text !== text || !hasSameBytes) throw new StoreUnavailable('stored record differs from the one written');
}

/** The record if it belongs to this user and application. @throws Refusal `removed` for a tombstone of this user */
export function ownRecord(
  { provider, subject, application }: Uploader,
  found: StoredRecord | Tombstone,
): StoredRecord | undefined {
  if (isTombstone(found)) {
    if (found.owner === ownerHash({ provider, subject })) throw new Refusal('removed');
    return undefined;
  }
  const isOwn = found.provider === provider && found.subject === subject && found.application === application;
  return isOwn ? found : undefined;
}

/** Runs `work` again while the store is unavailable. @throws StoreUnavailable after `commitMs` */
export function retryCommit<T>(work: () => Promise<T>): Promise<T> {
  return retryFor(commitMs, work, (error) => error instanceof StoreUnavailable);
}
