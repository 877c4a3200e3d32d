import { isOwnKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { findOrphans, type KeyBatch, type Orphan, RecordsUnreadable } from './find-orphans.ts';
import { addToListings } from './listing.ts';
import { type ListingIndex, readListingIndex } from './listing-index.ts';
import { listingEntryOf } from './listing-keys.ts';
import type { FoundRecord } from './records.ts';
import { isSettling } from './settling.ts';
import type { SweepReport, SweptCount, SweptKind } from './sweep-report.ts';
import { ResumableSurvey } from './sweep-resumables.ts';

interface SweepOptions {
  /** Keeps what is younger by the store's clock. Must be longer than any upload takes. */
  readonly olderThanMs: number;
  /** Only counts. */
  readonly dryRun: boolean;
  /** Continues even if most media has no record. Without it, a sweep assumes that records are lost. */
  readonly force?: boolean | undefined;
  readonly keysPerBatch?: number;
  readonly signal: AbortSignal;
}

interface SweepResult {
  readonly report: SweepReport;
  /** The first error of a removal or relisting; undefined if all succeeded. */
  readonly failure: unknown;
  /** Why media and renditions stay, although the rest was swept. RecordsMissing only after a dry run: a real run throws it. */
  readonly incomplete: RecordsMissing | RecordsUnreadable | undefined;
}

/** Most media has no record: lost records are more likely than so many failed uploads. */
export class RecordsMissing extends Error {
  override readonly name = 'RecordsMissing';

  constructor(unreferenced: number, keys: number) {
    super(
      `${unreferenced} of ${keys} media have no record, so records are probably lost. No media was deleted. Restore the records from a backup. Only if you do not need these uploads, use --force: it deletes their media for good.`,
    );
  }
}

const concurrency = 8;
// A young system may have more failed uploads than published ones.
const maxUnsuspicious = 20;

/**
 * Adds missing listing entries of published uploads. Removes unfinished writes, and media and renditions that no record references, if they
 * are old enough; at any age, what an interrupted removal left behind. Removes expired resumable uploads, and keeps what others need.
 *
 * Removes no media or rendition before all records have been read, and none if one is unreadable. Skips what it cannot remove.
 * @throws RecordsMissing, StoreUnavailable, or the signal's reason; objects removed until then stay removed
 */
export async function sweep(store: ObjectStore, options: SweepOptions): Promise<SweepResult> {
  const now = (await store.clock()).getTime();
  const listings = await readListingIndex(store, options);
  // Before the orphans: what a running upload publishes meanwhile has a record.
  const resumables = await ResumableSurvey.take(store, { ...options, now, concurrency });
  return new Sweep(store, options, { now, listings, resumables }).run();
}

interface Found {
  /** The store's time, in milliseconds. */
  readonly now: number;
  readonly listings: ListingIndex;
  readonly resumables: ResumableSurvey;
}

class Sweep {
  readonly #store: ObjectStore;
  readonly #options: SweepOptions;
  readonly #found: Found;
  readonly #listings = { missing: 0, added: 0 };
  readonly #counts = {
    ...{ media: emptyCount(), renditions: emptyCount() },
    ...{ uploads: emptyCount(), resumable: emptyCount() },
  };
  #failure: unknown;

  constructor(store: ObjectStore, options: SweepOptions, found: Found) {
    this.#store = store;
    this.#options = options;
    this.#found = found;
    this.#failure = found.resumables.failure;
  }

  async run(): Promise<SweepResult> {
    const { dryRun, force = false, keysPerBatch, signal } = this.#options;
    const { resumables } = this.#found;
    let incomplete: SweepResult['incomplete'];
    const visit = (record: FoundRecord) => this.#relist(record);
    try {
      for await (const batch of findOrphans(this.#store, { keysPerBatch, signal, visit })) {
        if (!force) incomplete ??= await this.#checkMissing(batch);
        if (!dryRun && incomplete) throw incomplete;
        await this.#forEach(batch.orphans, (found) => this.#removeObject(found));
      }
    } catch (error) {
      if (!(error instanceof RecordsUnreadable)) throw error;
      incomplete = error;
    }
    for (const upload of resumables.expired)
      await this.#count('resumable', upload.bytes, () => resumables.remove(upload));
    await this.#forEach(this.#store.listUnfinishedWrites(), (write) => this.#abortWrite(write));
    const report = { completed: await this.#store.clock(), kinds: this.#counts, listings: this.#listings };
    return { report, failure: this.#failure, incomplete };
  }

  // The gateway may have died before it wrote the entries. For a young record it may still do so.
  async #relist({ found }: FoundRecord): Promise<void> {
    if (found instanceof UnreadableRecord || isTombstone(found)) return;
    const entry = listingEntryOf(found);
    if (this.#found.listings.hasRecord(entry) || isSettling(found.timestamp)) return;
    this.#listings.missing += 1;
    if (await this.#attempt(() => addToListings(this.#store, entry))) this.#listings.added += 1;
  }

  async #removeObject({ kind, object, mediaKey, reference }: Orphan): Promise<void> {
    if (reference === 'nothing' && this.#found.resumables.needsMedia(mediaKey)) return;
    if (reference === 'tombstone' || this.#isOld(object))
      await this.#count(kind, object.size, () => this.#store.remove(object.key));
  }

  async #abortWrite(write: UnfinishedWrite): Promise<void> {
    if (this.#found.resumables.needsWrite(write.id)) return;
    if (this.#isOld(write) && (write.key === undefined || isOwnKey(write.key)))
      await this.#count('uploads', write.size ?? 0, () => this.#store.abortWrite(write));
  }

  async #count(kind: SweptKind, bytes: number, remove: () => Promise<void>): Promise<void> {
    const count = this.#counts[kind];
    count.found += 1;
    count.bytes += bytes;
    if (await this.#attempt(remove)) count.removed += 1;
  }

  /** Runs `act` unless this is a dry run, and notes its error. @returns whether it succeeded */
  async #attempt(act: () => Promise<unknown>): Promise<boolean> {
    if (this.#options.dryRun) return false;
    try {
      await act();
      return true;
    } catch (error) {
      this.#failure ??= error;
      return false;
    }
  }

  async #forEach<T>(found: AsyncIterable<T>, act: (each: T) => Promise<void>): Promise<void> {
    for await (const _ of pMapIterable(found, act, { concurrency })) this.#options.signal.throwIfAborted();
  }

  async #checkMissing({ keys, unreferenced, hasRecords, orphans }: KeyBatch) {
    const isSuspicious = (count: number) => (hasRecords ? count > maxUnsuspicious && count > keys / 2 : count > 0);
    if (!isSuspicious(unreferenced)) return undefined;
    let old = 0;
    for await (const { kind, object, reference } of orphans)
      if (kind === 'media' && reference === 'nothing' && this.#isOld(object)) old += 1;
    return isSuspicious(old) ? new RecordsMissing(old, keys) : undefined;
  }

  #isOld({ writtenAt }: Pick<UnfinishedWrite, 'writtenAt'>): boolean {
    return writtenAt.getTime() < this.#found.now - this.#options.olderThanMs;
  }
}

function emptyCount(): SweptCount {
  return { found: 0, removed: 0, bytes: 0 };
}
