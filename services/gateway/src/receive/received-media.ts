import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable, type WrittenObject } from '@echodrop/object-store/object-store';
import type { Refusal } from '../answer/refusals.ts';
import { HeldBytes } from './held-bytes.ts';
import type { BodyReading } from './read-body.ts';
import type { MemoryShare } from './unverified-memory.ts';

// Of media that waits, without memory of its own.
const maxWaitingBytes = 256 * 1024;

interface Receiving {
  readonly store: ObjectStore;
  /** Called with the key of media that could not be removed: the sweeper will. */
  readonly orphaned: (key: string) => void;
  /** Where the bytes come from: paused while the store does not keep up, and stopped when they cannot be stored. */
  readonly body: Pick<BodyReading, 'pause' | 'resume' | 'stop'>;
  readonly maxBytes: number;
  /** Nothing reaches the store before it resolves; when it rejects, the media is dropped. */
  readonly after?: Promise<unknown> | undefined;
  /** Opens the memory that holds the media until then. Without it, reading pauses at 256 KiB. */
  readonly memory?: ((crowdOut: (reason: Refusal) => void) => MemoryShare | undefined) | undefined;
  /** Called with the first bytes before they reach the store; what it rejects with ends the receiving. */
  readonly begins?: ((first: Buffer) => Promise<void>) | undefined;
  /** Whether `contentHash` will be asked for. */
  readonly hashed?: boolean | undefined;
}

/** Media on its way into the store. Whoever holds it disposes of it, and disposing discards it unless it was committed. */
export class ReceivedMedia implements AsyncDisposable {
  readonly key = newMediaKey();
  readonly #receiving: Receiving;
  readonly #stop = new AbortController();
  readonly #source: Readable;
  readonly #hash: Hash | undefined;
  readonly #memory: MemoryShare | undefined;
  /** What waits for the source to be read. */
  readonly #held = new HeldBytes();
  readonly #head = Buffer.allocUnsafe(probeHeadBytes);
  #headLength = 0;
  #size = 0;
  #hasEnded = false;
  /** Whether the store reads the source. */
  #isStoring = false;
  #isDropped = false;
  #stored: Promise<WrittenObject | undefined> = Promise.resolve(undefined);
  #committed = false;

  constructor(receiving: Receiving) {
    this.#receiving = receiving;
    this.#hash = receiving.hashed ? createHash('sha256') : undefined;
    this.#source = new Readable({ read: () => this.#readOn() });
    // The store's reader, or nobody, hears of it.
    this.#source.on('error', () => {});
    this.#memory = receiving.memory?.((reason) => this.#refuse(reason));
  }

  /** Takes the next bytes; what is beyond the limit is dropped. */
  write(bytes: Buffer): void {
    const isFirst = this.#size === 0;
    this.#size += bytes.length;
    if (this.tooLarge) this.#drop(new Error('media is too large'));
    if (this.#isDropped) return;
    if (this.#headLength < probeHeadBytes) this.#headLength += bytes.copy(this.#head, this.#headLength);
    this.#hash?.update(bytes);
    if (isFirst) {
      this.#stored = this.#put();
      this.#stored.catch((error) => this.#isDropped || this.#receiving.body.stop(error));
    }
    if (!this.#isStoring || this.#held.length > 0) this.#hold(bytes);
    else if (!this.#source.push(bytes)) this.#receiving.body.pause();
  }

  /** All bytes have come. Empty media is not stored. */
  end(): void {
    this.#hasEnded = true;
    if (this.#isStoring && this.#held.length === 0) this.#source.push(null);
    // What has ended asks for nothing more.
    this.#receiving.body.resume();
  }

  /** How many bytes have come. */
  get size(): number {
    return this.#size;
  }

  /** What was stored is discarded, and what comes is dropped. */
  get tooLarge(): boolean {
    return this.#size > this.#receiving.maxBytes;
  }

  /** The first bytes, up to 16 KiB. */
  get head(): Buffer {
    return this.#head.subarray(0, this.#headLength);
  }

  /** The SHA-256 of all its bytes, in hexadecimal digits, once it has ended; undefined where none was to be made. */
  get contentHash(): string | undefined {
    return this.#hash?.copy().digest('hex');
  }

  /** Size and tag of the media once it is in the store; undefined when it was empty or too large. @throws what kept it from being stored */
  async stored(): Promise<WrittenObject | undefined> {
    return this.tooLarge ? undefined : this.#stored;
  }

  /** From now on the media belongs to a record that may exist: only the sweeper may remove it. */
  commit(): void {
    this.#committed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#committed) return;
    const reason = new Error('media is discarded');
    this.#stop.abort(reason);
    this.#drop(reason);
    if (!this.#isStoring) return;
    try {
      if (await this.#stored) await this.#receiving.store.remove(mediaObjectKey(this.key));
    } catch (error) {
      // What a store at fault has of it, nobody knows; after any other error it has nothing.
      if (error instanceof StoreUnavailable) this.#receiving.orphaned(this.key);
    }
  }

  async #put(): Promise<WrittenObject> {
    const { store, after, begins } = this.#receiving;
    await after?.catch((error) => {
      this.#drop(error);
      throw error;
    });
    this.#memory?.verified();
    await begins?.(this.head);
    if (this.#source.errored) throw this.#source.errored;
    this.#isStoring = true;
    return store.put(mediaObjectKey(this.key), this.#source, { signal: this.#stop.signal });
  }

  #hold(bytes: Buffer): void {
    try {
      this.#memory?.take(bytes.length);
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#held.push(bytes);
    if (!this.#memory && this.#held.length >= maxWaitingBytes) this.#receiving.body.pause();
  }

  /** The source is asked for more. */
  #readOn(): void {
    const next = this.#held.shift();
    if (next) {
      this.#memory?.giveBack(next.length);
      this.#source.push(next);
    } else if (this.#hasEnded) this.#source.push(null);
    else this.#receiving.body.resume();
  }

  #refuse(reason: unknown): void {
    this.#drop(reason);
    this.#receiving.body.stop(reason);
  }

  /** Gives back what it holds, and takes nothing more. */
  #drop(reason: unknown): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#held.clear();
    this.#memory?.[Symbol.dispose]();
    this.#source.destroy(reason instanceof Error ? reason : new Error('media is dropped', { cause: reason }));
    // What is dropped waits for nothing.
    this.#receiving.body.resume();
  }
}
