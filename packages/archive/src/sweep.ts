import { isOwnKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { settlingMs } from './check-record.ts';
import type { FoundRecord } from './every-record.ts';
import { ListingIndex } from './listed-entries.ts';
import { addToListings, listingEntryOf } from './listing.ts';
import type { SweepReport, SweptCount, SweptKind } from './sweep-report.ts';
import { findUnpublished, type LookedAt, type UnpublishedObject } from './unpublished-objects.ts';

interface Sweeping {
  /** The sweep spares what is younger by the store's clock. Longer than any upload takes. */
  readonly olderThanMs: number;
  /** A dry run only counts what it finds. */
  readonly dryRun: boolean;
  /** Whether a sweep goes on if most media has no record. Else it takes the records for lost. */
  readonly force?: boolean | undefined;
  readonly keysPerBatch?: number;
  readonly signal: AbortSignal;
}

/** What a sweep has done. */
export interface Swept {
  readonly report: SweepReport;
  /** The first reason for which something could not be removed; undefined where all was. */
  readonly failure: unknown;
  /** A dry run does not throw RecordsMissing, but gives it here. */
  readonly recordsMissing: RecordsMissing | undefined;
}

/** Most media has no record: rather are records missing than that so many uploads failed. */
export class RecordsMissing extends Error {
  override readonly name = 'RecordsMissing';

  constructor(unnamed: number, keys: number) {
    super(
      `${unnamed} of ${keys} media are old and have no record, so that records seem to be lost: nothing is removed of them. Bring the records back, or use --force`,
    );
  }
}

const removedAtOnce = 8;
// A young system may well have a few failed uploads and few others.
const fewUnnamed = 20;

/**
 * Finds published uploads that are in no list, and lists them. Finds what nobody will ever see, and removes it:
 *
 * - media and renditions that no record names, and unfinished writes, if they are old enough;
 * - at any age, what a removal left that was cut short.
 *
 * It removes nothing before it has read every record, and passes over what it cannot remove.
 * @throws RecordsUnreadable, RecordsMissing, StoreUnavailable, or the signal's reason; objects removed by then stay removed
 */
export async function sweep(store: ObjectStore, { olderThanMs, ...sweeping }: Sweeping): Promise<Swept> {
  const { dryRun, force = false, signal } = sweeping;
  const before = (await store.clock()).getTime() - olderThanMs;
  const listings = { missing: 0, added: 0 };
  const counts = { media: noCount(), renditions: noCount(), uploads: noCount() };
  let failure: unknown;
  let recordsMissing: RecordsMissing | undefined;
  const listed = await ListingIndex.read(store, signal);
  for await (const looked of findUnpublished(store, { ...sweeping, visit: listAgain })) {
    if (!force) recordsMissing ??= await missingRecords(looked);
    if (!dryRun && recordsMissing) throw recordsMissing;
    const remove = ({ kind, object }: UnpublishedObject) => count(kind, object.size, () => store.remove(object.key));
    await each(looked.unpublished, isSwept, remove);
  }
  const abandon = (write: UnfinishedWrite) => count('uploads', write.size ?? 0, () => store.abortWrite(write));
  await each(store.listUnfinishedWrites(), isAbandoned, abandon);
  return { report: { completed: await store.clock(), kinds: counts, listings }, failure, recordsMissing };

  // An upload whose gateway died before it wrote them. A younger one may still be at it.
  async function listAgain({ found }: FoundRecord): Promise<void> {
    if (found instanceof UnreadableRecord || isTombstone(found)) return;
    const entries = listingEntryOf(found);
    if (listed.has(entries) || Date.now() - found.timestamp.getTime() < settlingMs) return;
    listings.missing += 1;
    if (dryRun) return;
    try {
      await addToListings(store, entries);
      listings.added += 1;
    } catch (error) {
      failure ??= error;
    }
  }

  async function each<T>(found: AsyncIterable<T>, isDue: (one: T) => boolean, act: (one: T) => Promise<void>) {
    const acted = (one: T) => (isDue(one) ? act(one) : undefined);
    for await (const _ of pMapIterable(found, acted, { concurrency: removedAtOnce })) signal.throwIfAborted();
  }

  async function count(kind: SweptKind, bytes: number, remove: () => Promise<void>): Promise<void> {
    counts[kind].found += 1;
    counts[kind].bytes += bytes;
    if (dryRun) return;
    try {
      await remove();
      counts[kind].removed += 1;
    } catch (error) {
      failure ??= error;
    }
  }

  async function missingRecords({ keys, unnamed, hasRecords, unpublished }: LookedAt) {
    const isMost = (count: number) => (hasRecords ? count > fewUnnamed && count > keys / 2 : count > 0);
    if (!isMost(unnamed)) return undefined;
    let old = 0;
    for await (const { kind, object, namedBy } of unpublished)
      if (kind === 'media' && namedBy === 'nothing' && isOld(object)) old += 1;
    return isMost(old) ? new RecordsMissing(old, keys) : undefined;
  }

  function isOld({ writtenAt }: Pick<UnfinishedWrite, 'writtenAt'>): boolean {
    return writtenAt.getTime() < before;
  }

  function isAbandoned(write: UnfinishedWrite): boolean {
    return isOld(write) && (write.key === undefined || isOwnKey(write.key));
  }

  function isSwept({ object, namedBy }: UnpublishedObject): boolean {
    return namedBy === 'tombstone' || isOld(object);
  }
}

function noCount(): SweptCount {
  return { found: 0, removed: 0, bytes: 0 };
}
