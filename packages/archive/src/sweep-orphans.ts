import { isOwnKey, resumablePrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore, UnfinishedWrite } from '@echodrop/object-store/object-store';
import type { StagedWrite } from '@echodrop/object-store/staged-write';
import { isTombstone, UnreadableRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { settlingMs } from './check-record.ts';
import { findOrphans, type KeyBatch, type Orphan } from './find-orphans.ts';
import { addToListings } from './listing.ts';
import { readListingIndex } from './listing-index.ts';
import { type ListingEntry, listingEntryOf } from './listing-keys.ts';
import type { FoundRecord } from './records.ts';
import {
  findResumable,
  listResumables,
  maxExpiryMs,
  removeResumable,
  tryFindResumable,
  UnreadableState,
} from './resumable-uploads.ts';
import type { SweepReport, SweptCount, SweptKind } from './sweep-report.ts';

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
  /** What a real run would throw; set by a dry run only. */
  readonly recordsMissing: RecordsMissing | undefined;
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
 * Removes nothing before all records have been read, and skips what it cannot remove.
 * @throws RecordsUnreadable, RecordsMissing, StoreUnavailable, or the signal's reason; objects removed until then stay removed
 */
export async function sweep(store: ObjectStore, options: SweepOptions): Promise<SweepResult> {
  const now = (await store.clock()).getTime();
  return new Sweep(store, options, now, await readListingIndex(store, options.signal)).run();
}

class Sweep {
  readonly #store: ObjectStore;
  readonly #options: SweepOptions;
  readonly #now: number;
  readonly #isListed: (entry: ListingEntry) => boolean;
  readonly #listings = { missing: 0, added: 0 };
  readonly #counts = {
    ...{ media: emptyCount(), renditions: emptyCount() },
    ...{ uploads: emptyCount(), resumable: emptyCount() },
  };
  /** What running resumable uploads may still need; incomplete if a state is unreadable, or missing from lists. */
  readonly #needed = { mediaKeys: new Set<string>(), writes: new Set<string>(), isComplete: true };
  readonly #expired: { readonly id: string; readonly write?: StagedWrite; readonly bytes: number }[] = [];
  #failure: unknown;

  constructor(store: ObjectStore, options: SweepOptions, now: number, isListed: (entry: ListingEntry) => boolean) {
    this.#store = store;
    this.#options = options;
    this.#now = now;
    this.#isListed = isListed;
  }

  async run(): Promise<SweepResult> {
    const { dryRun, force = false, keysPerBatch, signal } = this.#options;
    let recordsMissing: RecordsMissing | undefined;
    await this.#forEach(listResumables(this.#store), (listed) => this.#classifyResumable(listed));
    const visit = (record: FoundRecord) => this.#relist(record);
    for await (const batch of findOrphans(this.#store, { keysPerBatch, signal, visit })) {
      if (!force) recordsMissing ??= await this.#checkMissing(batch);
      if (!dryRun && recordsMissing) throw recordsMissing;
      await this.#forEach(batch.orphans, (found) => this.#removeObject(found));
    }
    for (const { id, write, bytes } of this.#expired)
      await this.#count('resumable', bytes, () => this.#removeResumable(id, write));
    await this.#forEach(this.#store.listUnfinishedWrites(), (write) => this.#abortWrite(write));
    const report = { completed: await this.#store.clock(), kinds: this.#counts, listings: this.#listings };
    return { report, failure: this.#failure, recordsMissing };
  }

  // The gateway may have died before it wrote the entries. For a young record it may still do so.
  async #relist({ found }: FoundRecord): Promise<void> {
    if (found instanceof UnreadableRecord || isTombstone(found)) return;
    const entry = listingEntryOf(found);
    if (this.#isListed(entry) || Date.now() - found.timestamp.getTime() < settlingMs) return;
    this.#listings.missing += 1;
    if (await this.#attempt(() => addToListings(this.#store, entry))) this.#listings.added += 1;
  }

  async #classifyResumable({ id, writtenAt }: { id: string; writtenAt: Date }): Promise<void> {
    try {
      // A list may miss a state that was saved meanwhile.
      const upload = (await findResumable(this.#store, id)) ?? (await findResumable(this.#store, id));
      if (!upload) return await this.#classifyRemnant(id, writtenAt);
      const { expires, mediaKey, write, isPublished } = upload.state;
      if (expires.getTime() < this.#now) this.#expired.push({ id, write, bytes: isPublished ? 0 : write.size });
      else if (!isPublished) {
        this.#needed.mediaKeys.add(mediaKey);
        if (write.id !== undefined) this.#needed.writes.add(write.id);
      }
    } catch (error) {
      this.#failure ??= error;
      const hasExpired = error instanceof UnreadableState && writtenAt.getTime() < this.#now - maxExpiryMs;
      if (hasExpired) this.#expired.push({ id, bytes: 0 });
      else this.#needed.isComplete = false;
    }
  }

  /** What an interrupted removal has left. If it is young, its state may be missing from lists. */
  async #classifyRemnant(id: string, writtenAt: Date): Promise<void> {
    const [remnant] = await this.#store.list(resumablePrefixOf(id), { limit: 1 });
    if (!remnant) return;
    this.#expired.push({ id, bytes: 0 });
    if (!this.#isOld({ writtenAt })) this.#needed.isComplete = false;
  }

  async #removeResumable(id: string, write: StagedWrite | undefined): Promise<void> {
    const found = write ? undefined : await tryFindResumable(this.#store, id);
    if (found && !(found instanceof UnreadableState)) return;
    await removeResumable(this.#store, id, write);
  }

  async #removeObject({ kind, object, mediaKey, reference }: Orphan): Promise<void> {
    const { isComplete, mediaKeys } = this.#needed;
    if (reference === 'nothing' && (mediaKeys.has(mediaKey) || !isComplete)) return;
    if (reference === 'tombstone' || this.#isOld(object))
      await this.#count(kind, object.size, () => this.#store.remove(object.key));
  }

  async #abortWrite(write: UnfinishedWrite): Promise<void> {
    const { isComplete, writes } = this.#needed;
    if (!isComplete || writes.has(write.id)) return;
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
    return writtenAt.getTime() < this.#now - this.#options.olderThanMs;
  }
}

function emptyCount(): SweptCount {
  return { found: 0, removed: 0, bytes: 0 };
}
