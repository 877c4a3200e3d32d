import { listObjects } from '@echodrop/object-store/list-objects';
import { renditionsPrefixOf } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { KeySet } from './key-set.ts';
import { type ListingEntry, listingEntryOf } from './listing-keys.ts';
import { listMedia, listMediaKeys, listRenditionFolders } from './media-keys-in-store.ts';
import { type ListOptions, listRecords } from './records.ts';

/** Media or a rendition that no published record references. A sweep keeps it while it is young or a resumable upload needs it (sweep.ts). */
export interface Orphan {
  readonly kind: 'media' | 'renditions';
  readonly object: ListedObject;
  readonly mediaKey: string;
  /** Whether an interrupted removal has left the object: its record is a tombstone. */
  readonly isRemoved: boolean;
}

/** What a search found. */
export interface OrphanSearch {
  /** Number of media. */
  readonly media: number;
  /** Number of media without a record or tombstone. */
  readonly unreferenced: number;
  /** Whether the store has any record or tombstone. */
  readonly hasRecords: boolean;
  /** Each iteration lists the store again. */
  readonly orphans: AsyncIterable<Orphan>;
}

/** An unreadable record may reference any media, so no media is certainly unreferenced. */
export class RecordsUnreadable extends Error {
  override readonly name = 'RecordsUnreadable';
  /** The id of one of the unreadable records. */
  readonly id: string;

  constructor(id: string, reason: string) {
    super(
      `Record ${id} is unreadable (${reason}) and may belong to any media, so no media or rendition was deleted. verify-store lists all such records, and says what to do.`,
    );
    this.id = id;
  }
}

interface ReadOptions extends ListOptions {
  /** Called once with the entry of every published record. */
  readonly visit?: ((entry: ListingEntry) => Promise<void> | void) | undefined;
}

/** The media keys that records reference. */
class MediaReferences {
  unreadable: RecordsUnreadable | undefined;
  readonly #published = new KeySet();
  readonly #removed = new KeySet();

  /** Reads records: an unreadable one does not prevent the visits of others. @returns the number of all records and tombstones @throws StoreUnavailable */
  async read(store: ObjectStore, { visit, visitId, ...options }: ReadOptions): Promise<number> {
    let records = 0;
    const countId = (id: string) => {
      records += 1;
      visitId?.(id);
    };
    for await (const { id, found } of listRecords(store, { ...options, visitId: countId })) {
      if (found instanceof UnreadableRecord) this.unreadable ??= new RecordsUnreadable(id, found.message);
      else if (isTombstone(found)) this.#removed.add(found.mediaKey);
      else {
        this.#published.add(found.mediaKey);
        await visit?.(listingEntryOf(found));
      }
    }
    return records;
  }

  isPublished(mediaKey: string): boolean {
    return this.#published.has(mediaKey);
  }

  isRemoved(mediaKey: string): boolean {
    return this.#removed.has(mediaKey) && !this.isPublished(mediaKey);
  }
}

// The clocks of the store's nodes may differ.
const clockMarginMs = 60_000;
// A record may also be written a minute after its media.
const recentMarginMs = 3_600_000;

/**
 * Finds media and renditions that no published record references. Reads all records, lists media, and then reads the records that were written
 * or restored meanwhile. Skips media that it has not listed before that, and what was written after its begin. So uploads that finish during the
 * search, and those restored then with old times, records first, count as published. Holds ids and media keys of all records: reading all records
 * once for each part of them would cost more than memory.
 * @throws RecordsUnreadable after it has visited all records; StoreUnavailable
 */
export async function findOrphans(store: ObjectStore, visit?: ReadOptions['visit']): Promise<OrphanSearch> {
  const began = await store.clock();
  const references = new MediaReferences();
  const ids = new KeySet();
  const records = await references.read(store, { visit, visitId: (id) => ids.add(id) });
  if (references.unreadable) throw references.unreadable;
  const unpublished = new KeySet();
  const counts = { media: 0, unpublished: 0, unreferenced: 0 };
  for await (const mediaKey of listMediaKeys(store)) {
    counts.media += 1;
    if (references.isPublished(mediaKey)) continue;
    unpublished.add(mediaKey);
    counts.unpublished += 1;
    if (!references.isRemoved(mediaKey)) counts.unreferenced += 1;
  }
  const media = counts.unpublished > 0 ? unpublished : undefined;
  if (media) await references.read(store, { since: began.getTime() - clockMarginMs, known: ids });
  if (references.unreadable) throw references.unreadable;
  const orphans = { [Symbol.asyncIterator]: () => listOrphans(store, references, { began, media }) };
  return { media: counts.media, unreferenced: counts.unreferenced, hasRecords: records > 0, orphans };
}

async function* listOrphans(
  store: ObjectStore,
  references: MediaReferences,
  { began, media }: { readonly began: Date; readonly media: KeySet | undefined },
): AsyncGenerator<Orphan> {
  const orphanOf = (kind: Orphan['kind'], mediaKey: string, object: ListedObject): Orphan[] => {
    const isRemoved = references.isRemoved(mediaKey);
    return isRemoved || object.writtenAt <= began ? [{ kind, mediaKey, object, isRemoved }] : [];
  };
  if (media) {
    for await (const { mediaKey, object } of listMedia(store))
      if (media.has(mediaKey) && !references.isPublished(mediaKey)) yield* orphanOf('media', mediaKey, object);
  }
  for await (const mediaKey of listRenditionFolders(store)) {
    if (references.isPublished(mediaKey)) continue;
    for await (const object of listObjects(store, renditionsPrefixOf(mediaKey)))
      yield* orphanOf('renditions', mediaKey, object);
  }
}

interface RecentOptions {
  /** A sweep has judged all media that was written before this time. In milliseconds, by the store's clock. */
  readonly judgedBefore: number;
  /** Younger objects are not deleted yet. */
  readonly oldBefore: number;
  /** Called with the entry of each record that was published since then. */
  readonly visit: (entry: ListingEntry) => void;
}

/**
 * Whether a sweep might delete media or renditions. Lists records, media and folders of renditions, and reads only the records written since the
 * last sweep: media has its record soon, and published media becomes an orphan only if its record is replaced. If in doubt, true.
 * @throws StoreUnavailable
 */
export async function mayHaveOrphans(
  store: ObjectStore,
  { judgedBefore, oldBefore, visit }: RecentOptions,
): Promise<boolean> {
  const since = judgedBefore - recentMarginMs;
  const references = new MediaReferences();
  const records = await references.read(store, { since, visit });
  if (references.unreadable) return true;
  const isOld = ({ writtenAt }: ListedObject) => writtenAt.getTime() < oldBefore;
  const isUnpublished = (mediaKey: string, object: ListedObject) =>
    object.writtenAt.getTime() >= since && isOld(object) && !references.isPublished(mediaKey);
  const hasOldRendition = async (mediaKey: string) => {
    for await (const object of listObjects(store, renditionsPrefixOf(mediaKey)))
      if (references.isRemoved(mediaKey) || isOld(object)) return true;
    return false;
  };
  // Both lists have the order of their media keys, so neither must be held. Media exists before its renditions.
  const folders = listRenditionFolders(store);
  let folder = await folders.next();
  let media = 0;
  for await (const { mediaKey, object } of listMedia(store)) {
    media += 1;
    if (references.isRemoved(mediaKey) || isUnpublished(mediaKey, object)) return true;
    for (; !folder.done && folder.value <= mediaKey; folder = await folders.next())
      if (folder.value < mediaKey && (await hasOldRendition(folder.value))) return true;
  }
  for (; !folder.done; folder = await folders.next()) if (await hasOldRendition(folder.value)) return true;
  return isSuspicious({ media, unreferenced: media - records, hasRecords: records > 0 });
}

// A young system may have more failed uploads than published ones.
const maxUnsuspicious = 20;

/** Whether so many media without a record mean that records are lost. */
export function isSuspicious({ media, unreferenced, hasRecords }: Omit<OrphanSearch, 'orphans'>): boolean {
  return hasRecords ? unreferenced > maxUnsuspicious && unreferenced > media / 2 : unreferenced > 0;
}
