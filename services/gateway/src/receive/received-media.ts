import { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import type { Caller } from '@echodrop/contracts/verification';
import { detectMediaType, type MediaType } from '@echodrop/media/detect-media-type';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable, type WrittenObject } from '@echodrop/object-store/object-store';
import type { MemoryShare } from '../admit/unverified-memory.ts';
import type { Refusal } from '../response/refusal-error.ts';
import { ByteQueue } from './byte-queue.ts';
import type { BodyReading } from './read-body.ts';

// Held of media that waits without memory of its own.
const maxHeldBytes = 256 * 1024;

interface Transfer {
  readonly store: ObjectStore;
  /** Called with the key of media that could not be discarded; the sweep removes it. */
  readonly onOrphan: (key: string) => void;
  /** The source: paused while the store does not keep up, stopped if the media cannot be stored. */
  readonly body: Pick<BodyReading, 'pause' | 'resume' | 'stop'>;
  readonly maxMediaBytes: number;
}

export interface MediaOptions {
  /** Nothing reaches the store before it resolves; if it rejects, the media is dropped. */
  readonly verdict?: Promise<Caller>;
  /** Called when the media begins, for memory that holds it until the verdict. Without memory, reading pauses at 256 KiB. */
  readonly openMemory?: (crowdOut: (reason: Refusal) => void) => MemoryShare | undefined;
  /**
   * Called with the detected type before the media reaches the store. Its rejection ends the upload. If it resolves with a refusal, the media is
   * dropped, and the rest of the form is read.
   */
  readonly admitMedia?: (type: MediaType | undefined) => Promise<Refusal | undefined>;
}

/** Media on its way into the store. Disposing discards it unless it was committed. */
export class ReceivedMedia implements AsyncDisposable {
  readonly key = newMediaKey();
  readonly #transfer: Transfer;
  readonly #options: MediaOptions;
  readonly #stop = new AbortController();
  readonly #source: Readable;
  readonly #memory: MemoryShare | undefined;
  /** Bytes that the source has yet to take. */
  readonly #held = new ByteQueue();
  readonly #head = Buffer.allocUnsafe(probeHeadBytes);
  readonly #headComplete = Promise.withResolvers<void>();
  #headLength = 0;
  #type: MediaType | undefined;
  #size = 0;
  #hasEnded = false;
  /** Whether the store reads the source. */
  #isStoring = false;
  #isDropped = false;
  #stored: Promise<WrittenObject | undefined> = Promise.resolve(undefined);
  #isCommitted = false;

  constructor(transfer: Transfer, options: MediaOptions = {}) {
    this.#transfer = transfer;
    this.#options = options;
    this.#source = new Readable({ read: () => this.#feedSource() });
    // The store's reader handles the error, if there is one.
    this.#source.on('error', () => {});
    this.#memory = options.openMemory?.((reason) => this.#refuse(reason));
  }

  /** Takes the next bytes; drops everything if there are too many. */
  write(bytes: Buffer): void {
    const isFirst = this.#size === 0;
    this.#size += bytes.length;
    if (this.tooLarge) this.#drop(new Error('media is too large'));
    if (this.#isDropped) return;
    if (this.#headLength < probeHeadBytes) this.#headLength += bytes.copy(this.#head, this.#headLength);
    if (this.#headLength === probeHeadBytes) this.#headComplete.resolve();
    if (isFirst) {
      this.#stored = this.#put();
      this.#stored.catch((error) => this.#isDropped || this.#transfer.body.stop(error));
    }
    if (!this.#isStoring || this.#held.length > 0) this.#hold(bytes);
    else if (!this.#source.push(bytes)) this.#transfer.body.pause();
  }

  /** All bytes have come. */
  end(): void {
    this.#hasEnded = true;
    this.#headComplete.resolve();
    if (this.#isStoring && this.#held.length === 0) this.#source.push(null);
    this.#transfer.body.resume();
  }

  get tooLarge(): boolean {
    return this.#size > this.#transfer.maxMediaBytes;
  }

  /** The first bytes, up to 16 KiB. */
  get head(): Buffer {
    return this.#head.subarray(0, this.#headLength);
  }

  /** The type that `head` has, once the media is stored; undefined if unknown. */
  get type(): MediaType | undefined {
    return this.#type;
  }

  /** Resolves once the media is in the store; with undefined if it is too large. @throws what kept it from being stored */
  async awaitStored(): Promise<WrittenObject | undefined> {
    return this.tooLarge ? undefined : this.#stored;
  }

  /** From now on a record may name the media: only the sweep may remove it. */
  commit(): void {
    this.#isCommitted = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isCommitted) return;
    const reason = new Error('media is discarded');
    this.#stop.abort(reason);
    this.#drop(reason);
    if (!this.#isStoring) return;
    try {
      if (await this.#stored) await this.#transfer.store.remove(mediaObjectKey(this.key));
    } catch (error) {
      // A failing store may have kept something; after any other error it has nothing.
      if (error instanceof StoreUnavailable) this.#transfer.onOrphan(this.key);
    }
  }

  async #put(): Promise<WrittenObject> {
    const { verdict, admitMedia } = this.#options;
    const caller = await verdict?.catch((error) => {
      this.#drop(error);
      throw error;
    });
    this.#memory?.markVerified();
    await this.#headComplete.promise;
    this.#type = detectMediaType(this.head);
    const refusal = await admitMedia?.(this.#type);
    if (refusal) {
      this.#drop(refusal);
      throw refusal;
    }
    if (this.#source.errored) throw this.#source.errored;
    this.#isStoring = true;
    const options = { signal: this.#stop.signal, freesChunks: true, sender: caller && ownerHash(caller) };
    return this.#transfer.store.put(mediaObjectKey(this.key), this.#source, options);
  }

  #hold(bytes: Buffer): void {
    try {
      this.#memory?.take(bytes.length);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#held.push(bytes);
    if (!this.#memory && this.#held.length >= maxHeldBytes) this.#transfer.body.pause();
  }

  #feedSource(): void {
    const next = this.#held.shift();
    if (next) {
      this.#memory?.giveBack(next.length);
      this.#source.push(next);
    } else if (this.#hasEnded) this.#source.push(null);
    else this.#transfer.body.resume();
  }

  #refuse(reason: unknown): void {
    this.#drop(reason);
    this.#transfer.body.stop(reason);
  }

  /** Frees what it holds and takes nothing more. */
  #drop(reason: unknown): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#headComplete.resolve();
    this.#held.clear();
    this.#memory?.[Symbol.dispose]();
    this.#source.destroy(reason instanceof Error ? reason : new Error('media dropped', { cause: reason }));
    this.#transfer.body.resume();
  }
}
