import { resumablePrefixOf } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StagedWrite } from '@echodrop/object-store/staged-write';
import { pMapIterable } from 'p-map';
import { UnreadableState } from './resumable-state.ts';
import {
  type ListedResumable,
  listResumables,
  maxExpiryMs,
  type ResumableUpload,
  removeResumable,
  tryFindResumable,
} from './resumable-uploads.ts';

interface SurveyOptions {
  /** The store's time, in milliseconds. */
  readonly now: number;
  /** What is younger may be missing from lists. */
  readonly olderThanMs: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

interface ExpiredResumable {
  readonly id: string;
  /** undefined for the remnant of a removal, and for an unreadable state. */
  readonly write?: StagedWrite;
  /** Bytes that its removal frees. */
  readonly bytes: number;
}

/** The resumable uploads of a store, for its sweep. */
export class ResumableSurvey {
  readonly expired: ExpiredResumable[] = [];
  /** The first error of a read. */
  failure: unknown;
  readonly #store: ObjectStore;
  readonly #options: SurveyOptions;
  readonly #mediaKeys = new Set<string>();
  readonly #writes = new Set<string>();
  /** False if a state is unreadable, or missing from lists: then running uploads may need anything. */
  #isComplete = true;

  private constructor(store: ObjectStore, options: SurveyOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Reads the states. @throws StoreUnavailable of a list, or the signal's reason */
  static async take(store: ObjectStore, options: SurveyOptions): Promise<ResumableSurvey> {
    const survey = new ResumableSurvey(store, options);
    const { concurrency, signal } = options;
    const classified = pMapIterable(listResumables(store), (listed) => survey.#classify(listed), { concurrency });
    for await (const _ of classified) signal.throwIfAborted();
    return survey;
  }

  /** Whether a running upload may need the media of this key. */
  needsMedia(mediaKey: string): boolean {
    return !this.#isComplete || this.#mediaKeys.has(mediaKey);
  }

  /** Whether a running upload may need the unfinished write of this id. */
  needsWrite(id: string): boolean {
    return !this.#isComplete || this.#writes.has(id);
  }

  /** Removes an expired upload, unless it turns out to have a state. @throws StoreUnavailable */
  async remove({ id, write }: ExpiredResumable): Promise<void> {
    const found = write ? undefined : await tryFindResumable(this.#store, id);
    if (found === undefined || found instanceof UnreadableState) await removeResumable(this.#store, id, write);
  }

  async #classify(listed: ListedResumable): Promise<void> {
    try {
      const found = await tryFindResumable(this.#store, listed.id);
      if (found === undefined) await this.#classifyRemnant(listed);
      else if (found instanceof UnreadableState) this.#classifyUnreadable(listed, found);
      else this.#classifyUpload(listed, found);
    } catch (error) {
      this.failure ??= error;
      this.#isComplete = false;
    }
  }

  #classifyUpload({ writtenAt }: ListedResumable, { id, state }: ResumableUpload): void {
    const { expires, mediaKey, write, isPublished } = state;
    const hasExpired = expires.getTime() < this.#options.now || this.#isOlder(writtenAt, maxExpiryMs);
    if (hasExpired) this.expired.push({ id, write, bytes: isPublished ? 0 : write.size });
    else if (!isPublished) {
      this.#mediaKeys.add(mediaKey);
      if (write.id !== undefined) this.#writes.add(write.id);
    }
  }

  #classifyUnreadable({ id, writtenAt }: ListedResumable, error: UnreadableState): void {
    this.failure ??= error;
    if (this.#isOlder(writtenAt, maxExpiryMs)) this.expired.push({ id, bytes: 0 });
    else this.#isComplete = false;
  }

  /** What an interrupted removal has left. If it is young, it may be an upload whose last state the list has missed. */
  async #classifyRemnant({ id, writtenAt }: ListedResumable): Promise<void> {
    const [remnant] = await this.#store.list(resumablePrefixOf(id), { limit: 1 });
    if (!remnant) return;
    this.expired.push({ id, bytes: 0 });
    if (!this.#isOlder(writtenAt, this.#options.olderThanMs)) this.#isComplete = false;
  }

  #isOlder(writtenAt: Date, ms: number): boolean {
    return writtenAt.getTime() < this.#options.now - ms;
  }
}
