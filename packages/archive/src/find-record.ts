import { buffer } from 'node:stream/consumers';
import { recordKey } from '@echodrop/object-store/object-keys';
import { ChecksumMismatch, type ObjectStore } from '@echodrop/object-store/object-store';
import { decodeStoredRecord, isMediaId, type StoredRecord, type Tombstone, UnreadableRecord } from '@echodrop/record';

/**
 * The record of `id` or its tombstone, or undefined when there is neither or `id` has no media id's shape: no other text ever
 * becomes a key.
 * @throws StoreUnavailable, UnreadableRecord, or the signal's reason
 */
export async function findRecord(
  store: ObjectStore,
  id: string,
  signal?: AbortSignal,
): Promise<StoredRecord | Tombstone | undefined> {
  if (!isMediaId(id)) return undefined;
  const reading = await store.read(recordKey(id), signal && { signal });
  return reading && decodeStoredRecord(await buffer(reading.body));
}

/** The same for those who look at many: a record that cannot be read is told, and stops nobody. @throws StoreUnavailable, or the signal's reason */
export async function tryFindRecord(
  store: ObjectStore,
  id: string,
  signal?: AbortSignal,
): Promise<StoredRecord | Tombstone | UnreadableRecord | undefined> {
  const find = () => findRecord(store, id, signal);
  try {
    // A bit that flipped on its way here is another one the next time.
    return await find().catch((error): ReturnType<typeof find> => {
      if (error instanceof ChecksumMismatch) return find();
      throw error;
    });
  } catch (error) {
    if (error instanceof UnreadableRecord) return error;
    // One damaged record must not end a sweep, or the page of a list.
    if (error instanceof ChecksumMismatch) return new UnreadableRecord(error.message, { cause: error });
    throw error;
  }
}
