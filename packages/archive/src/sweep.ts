import { isOwnKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';
import { pMapIterable } from 'p-map';
import { findOrphans, isSuspicious, mayHaveOrphans, type Orphan, RecordsUnreadable } from './find-orphans.ts';
import { addToListings, missingListingKeys } from './listing.ts';
import { readListingIndex } from './listing-index.ts';
import type { ListingEntry } from './listing-keys.ts';
import { isSettling } from './settling.ts';
import { emptyCount, isRecent, type Judged, type SweepReport, type SweptKind } from './sweep-report.ts';
import { type ResumableSurvey, removeExpired, surveyResumables } from './sweep-resumables.ts';

interface SweepOptions {
  /** The sweep keeps what is younger by the store's clock. The age must exceed the time of any upload. */
  readonly olderThanMs: number;
  /** Whether the sweep only counts. */
  readonly dryRun: boolean;
  /** Continues even if most media has no record. Without it, a sweep assumes that records are lost. */
  readonly force?: boolean | undefined;
  /** The last report. With a recent one, the sweep reads only new records, unless it finds a reason to read all. */
  readonly last?: SweepReport | undefined;
}

interface SweepResult {
  readonly report: SweepReport;
  /** The first error of a removal or relisting; undefined if all succeeded. */
  readonly failure: unknown;
  /** Why media and renditions stay, although the rest was swept, or why the sweep ended early. */
  readonly incomplete: unknown;
}

/** Most media has no record: lost records are more likely than so many failed uploads. */
export class RecordsMissing extends Error {
  override readonly name = 'RecordsMissing';

  constructor(unreferenced: number, media: number) {
    super(
      `${unreferenced} of ${media} media have no record, so records are probably lost. No media was deleted. Restore the records from a backup. Only if you do not need these uploads, use --force: it deletes their media for good.`,
    );
  }
}

const concurrency = 8;

/**
 * Adds missing listing entries of published uploads. Removes unfinished writes, and media and renditions that no record references, if they
 * are old enough; at any age, what an interrupted removal left behind. Removes expired resumable uploads, and keeps what others need.
 *
 * Removes no media or rendition before all records have been read, and none if one is unreadable. Skips what it cannot remove.
 * @throws RecordsMissing or StoreUnavailable, if it has changed nothing before
 */
export async function sweep(store: ObjectStore, options: SweepOptions): Promise<SweepResult> {
  const now = (await store.clock()).getTime();
  // This precedes the search for orphans: what a running upload publishes meanwhile has a record.
  const resumables = await surveyResumables(store, { now, olderThanMs: options.olderThanMs });
  const work = new SweepWork(store, { ...options, now, resumables });
  try {
    const judged = (await work.judgeRecent()) ?? (await work.judgeAll());
    await work.removeExpired();
    await work.abortUnfinishedWrites();
    const incomplete = judged instanceof RecordsUnreadable ? judged : undefined;
    const kept = judged instanceof RecordsUnreadable || work.failure !== undefined ? options.last?.judged : judged;
    return { report: work.report(await store.clock(), kept), failure: work.failure, incomplete };
  } catch (error) {
    if (!work.hasChanges) throw error;
    return { report: work.report(new Date(now), undefined), failure: undefined, incomplete: error };
  }
}

interface WorkOptions extends SweepOptions {
  /** The store's time, in milliseconds. */
  readonly now: number;
  readonly resumables: ResumableSurvey;
}

/** The steps of a sweep, and what they count. */
class SweepWork {
  readonly #store: ObjectStore;
  readonly #options: WorkOptions;
  readonly #oldBefore: number;
  readonly #listings = { missing: 0, added: 0 };
  readonly #counts = {
    media: emptyCount(),
    renditions: emptyCount(),
    uploads: emptyCount(),
    resumable: emptyCount(),
  };
  failure: unknown;

  constructor(store: ObjectStore, options: WorkOptions) {
    this.#store = store;
    this.#options = options;
    this.#oldBefore = options.now - options.olderThanMs;
    this.failure = options.resumables.failure;
  }

  get hasChanges(): boolean {
    return this.#listings.added > 0 || Object.values(this.#counts).some(({ removed }) => removed > 0);
  }

  report(completed: Date, judged: Judged | undefined): SweepReport {
    return { completed, kinds: this.#counts, listings: this.#listings, judged };
  }

  /** Judges recent objects. Undefined if something might be an orphan, or the last sweep that read all records was long ago. */
  async judgeRecent(): Promise<Judged | undefined> {
    const { last: { judged } = {}, now } = this.#options;
    if (!judged || !isRecent(judged, now)) return undefined;
    const entries: ListingEntry[] = [];
    const visit = (entry: ListingEntry) => void entries.push(entry);
    const limits = { judgedBefore: judged.before.getTime(), oldBefore: this.#oldBefore };
    if (await mayHaveOrphans(this.#store, { ...limits, visit })) return undefined;
    for (const entry of entries)
      await this.#relist(entry, async () => (await missingListingKeys(this.#store, entry)).length === 0);
    return { before: new Date(this.#oldBefore), read: judged.read };
  }

  /** Judges all objects. @returns why media and renditions stay, if they do @throws RecordsMissing */
  async judgeAll(): Promise<Judged | RecordsUnreadable> {
    const { force = false, now } = this.#options;
    const listings = await readListingIndex(this.#store);
    const relist = (entry: ListingEntry) => this.#relist(entry, async () => listings.hasRecord(entry));
    try {
      const search = await findOrphans(this.#store, relist);
      if (!force && isSuspicious(search)) {
        const unreferenced = await this.#countOldMedia(search.orphans);
        if (isSuspicious({ ...search, unreferenced })) throw new RecordsMissing(unreferenced, search.media);
      }
      await forEach(search.orphans, (orphan) => this.#removeOrphan(orphan));
    } catch (error) {
      if (error instanceof RecordsUnreadable) return error;
      throw error;
    }
    return { before: new Date(this.#oldBefore), read: new Date(now) };
  }

  async removeExpired(): Promise<void> {
    for (const upload of this.#options.resumables.expired)
      await this.#count('resumable', upload.bytes, () => removeExpired(this.#store, upload));
  }

  async abortUnfinishedWrites(): Promise<void> {
    await forEach(this.#store.listUnfinishedWrites(), async (write) => {
      const isOurs = write.key === undefined || isOwnKey(write.key);
      if (isOurs && this.#isOld(write) && !this.#options.resumables.needs(write.id))
        await this.#count('uploads', write.size ?? 0, () => this.#store.abortWrite(write));
    });
  }

  // The gateway may have died before it wrote the entries. For a young record it may still do so.
  async #relist(entry: ListingEntry, isListed: () => Promise<boolean>): Promise<void> {
    if (isSettling(entry.timestamp) || (await isListed())) return;
    this.#listings.missing += 1;
    if (await this.#attempt(() => addToListings(this.#store, entry))) this.#listings.added += 1;
  }

  async #countOldMedia(orphans: AsyncIterable<Orphan>): Promise<number> {
    let count = 0;
    for await (const { kind, object, isRemoved } of orphans)
      if (kind === 'media' && !isRemoved && this.#isOld(object)) count += 1;
    return count;
  }

  async #removeOrphan({ kind, object, mediaKey, isRemoved }: Orphan): Promise<void> {
    if (isRemoved || (this.#isOld(object) && !this.#options.resumables.needs(mediaKey)))
      await this.#count(kind, object.size, () => this.#store.remove(object.key));
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
      this.failure ??= error;
      return false;
    }
  }

  #isOld({ writtenAt }: Pick<UnfinishedWrite, 'writtenAt'>): boolean {
    return writtenAt.getTime() < this.#oldBefore;
  }
}

async function forEach<T>(found: AsyncIterable<T>, act: (each: T) => Promise<void>): Promise<void> {
  for await (const _ of pMapIterable(found, act, { concurrency }));
}
