import { isOwnKey, mediaPrefix, recordsPrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import {
  findOrphans,
  listsOfOrphans,
  listsOfSearch,
  type Orphan,
  type OrphanSearch,
  RecordsUnreadable,
} from './find-orphans.ts';
import { addToListings, missingListingKeys } from './listing.ts';
import { readListingIndex } from './listing-index.ts';
import { type ListingEntry, listingPrefixes } from './listing-keys.ts';
import { mayHaveOrphans } from './may-have-orphans.ts';
import { isSuspicious, RecordsMissing } from './records-missing.ts';
import { isSettling } from './settling.ts';
import { emptyCount, isRecent, type Judged, type SweepReport, type SweptKind } from './sweep-report.ts';
import { ResumableSurvey } from './sweep-resumables.ts';

interface SweepOptions {
  /** Keeps what is younger by the store's clock. Must be longer than any upload takes. */
  readonly olderThanMs: number;
  /** Only counts. */
  readonly dryRun: boolean;
  /** Continues even if most media has no record. Without it, a sweep assumes that records are lost. */
  readonly force?: boolean | undefined;
  /** The last report. With a recent one, the sweep reads only new records, unless it finds a reason to read all. */
  readonly last?: SweepReport | undefined;
  readonly signal: AbortSignal;
}

interface SweepResult {
  readonly report: SweepReport;
  /** The first error of a removal or relisting; undefined if all succeeded. */
  readonly failure: unknown;
  /** Why media and renditions stay, although the rest was swept. RecordsMissing only after a dry run: a real run throws it. */
  readonly incomplete: RecordsMissing | RecordsUnreadable | undefined;
}

/** A sweep ended early. `report` has what it had changed before, and `cause` says why. */
export class SweepStopped extends Error {
  override readonly name = 'SweepStopped';
  readonly report: SweepReport;

  constructor(report: SweepReport, cause: unknown) {
    super('The sweep ended early.', { cause });
    this.report = report;
  }
}

/** What a sweep lists, in order: to decide whether it must read all records; if so; and if there are orphans. */
export const listsOfSweep = [
  [recordsPrefix, mediaPrefix],
  [...listingPrefixes.toReversed(), ...listsOfSearch],
  listsOfOrphans,
];

const concurrency = 8;

/**
 * Adds missing listing entries of published uploads. Removes unfinished writes, and media and renditions that no record references, if they
 * are old enough; at any age, what an interrupted removal left behind. Removes expired resumable uploads, and keeps what others need.
 *
 * Removes no media or rendition before all records have been read, and none if one is unreadable. Skips what it cannot remove.
 * @throws RecordsMissing, StoreUnavailable, or the signal's reason; with SweepStopped around it if something was changed before
 */
export async function sweep(store: ObjectStore, options: SweepOptions): Promise<SweepResult> {
  const now = (await store.clock()).getTime();
  // Before the orphans: what a running upload publishes meanwhile has a record.
  const resumables = await ResumableSurvey.take(store, { ...options, now, concurrency });
  return new Sweep(store, options, { now, resumables }).run();
}

interface Found {
  /** The store's time, in milliseconds. */
  readonly now: number;
  readonly resumables: ResumableSurvey;
}

class Sweep {
  readonly #store: ObjectStore;
  readonly #options: SweepOptions;
  readonly #found: Found;
  readonly #listings = { missing: 0, added: 0 };
  readonly #counts = {
    media: emptyCount(),
    renditions: emptyCount(),
    uploads: emptyCount(),
    resumable: emptyCount(),
  };
  #failure: unknown;

  constructor(store: ObjectStore, options: SweepOptions, found: Found) {
    this.#store = store;
    this.#options = options;
    this.#found = found;
    this.#failure = found.resumables.failure;
  }

  async run(): Promise<SweepResult> {
    try {
      return await this.#run();
    } catch (error) {
      const changes = [this.#listings.added, ...Object.values(this.#counts).map(({ removed }) => removed)];
      if (changes.every((count) => count === 0)) throw error;
      throw new SweepStopped(this.#report(new Date(this.#found.now), undefined), error);
    }
  }

  async #run(): Promise<SweepResult> {
    const { resumables } = this.#found;
    const judged = (await this.#judgeRecent()) ?? (await this.#judgeAll());
    const incomplete = judged instanceof Error ? judged : undefined;
    for (const upload of resumables.expired)
      await this.#count('resumable', upload.bytes, () => resumables.remove(upload));
    await this.#forEach(this.#store.listUnfinishedWrites(), (write) => this.#abortWrite(write));
    const kept = judged instanceof Error || this.#failure !== undefined ? this.#options.last?.judged : judged;
    const report = this.#report(await this.#store.clock(), kept);
    return { report, failure: this.#failure, incomplete };
  }

  #report(completed: Date, judged: Judged | undefined): SweepReport {
    return { completed, kinds: this.#counts, listings: this.#listings, judged };
  }

  /** Undefined if something might be an orphan, or the last sweep that read all records was long ago. */
  async #judgeRecent(): Promise<Judged | undefined> {
    const { last: { judged } = {}, signal } = this.#options;
    if (!judged || !isRecent(judged, this.#found.now)) return undefined;
    const entries: ListingEntry[] = [];
    const visit = (entry: ListingEntry) => void entries.push(entry);
    const limits = { judgedBefore: judged.before.getTime(), oldBefore: this.#oldBefore };
    if (await mayHaveOrphans(this.#store, { ...limits, visit, signal })) return undefined;
    for (const entry of entries)
      await this.#relist(entry, async () => (await missingListingKeys(this.#store, entry)).length === 0);
    return { before: new Date(this.#oldBefore), read: judged.read };
  }

  /** @returns why media and renditions stay, if they do */
  async #judgeAll(): Promise<Judged | RecordsMissing | RecordsUnreadable> {
    const { dryRun, force = false, signal } = this.#options;
    const listings = await readListingIndex(this.#store, this.#options);
    const visit = (entry: ListingEntry) => this.#relist(entry, async () => listings.hasRecord(entry));
    try {
      const search = await findOrphans(this.#store, { signal, visit });
      const missing = force ? undefined : await this.#checkMissing(search);
      if (!dryRun && missing) throw missing;
      await this.#forEach(search.orphans, (found) => this.#removeObject(found));
      return missing ?? { before: new Date(this.#oldBefore), read: new Date(this.#found.now) };
    } catch (error) {
      if (!(error instanceof RecordsUnreadable)) throw error;
      return error;
    }
  }

  // The gateway may have died before it wrote the entries. For a young record it may still do so.
  async #relist(entry: ListingEntry, isListed: () => Promise<boolean>): Promise<void> {
    if (isSettling(entry.timestamp) || (await isListed())) return;
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

  async #checkMissing({ keys, unreferenced, hasRecords, orphans }: OrphanSearch) {
    if (!isSuspicious(unreferenced, keys, hasRecords)) return undefined;
    let old = 0;
    for await (const { kind, object, reference } of orphans)
      if (kind === 'media' && reference === 'nothing' && this.#isOld(object)) old += 1;
    return isSuspicious(old, keys, hasRecords) ? new RecordsMissing(old, keys) : undefined;
  }

  #isOld({ writtenAt }: Pick<UnfinishedWrite, 'writtenAt'>): boolean {
    return writtenAt.getTime() < this.#oldBefore;
  }

  get #oldBefore(): number {
    return this.#found.now - this.#options.olderThanMs;
  }
}
