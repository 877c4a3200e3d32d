import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { mediaObject, newMediaKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, type StoredObject, StoreUnavailable } from '@echodrop/object-store/object-store';
import type { BodyReading } from './read-body.ts';

interface Receiving {
  readonly store: ObjectStore;
  /** Called with the key of media that could not be removed: the sweeper will. */
  readonly orphaned: (key: string) => void;
  /** Where the bytes come from: paused while the store does not keep up, and stopped when they cannot be stored. */
  readonly body: Pick<BodyReading, 'pause' | 'resume' | 'stop'>;
  readonly maxBytes: number;
  /** Nothing reaches the store before it resolves. */
  readonly verdict?: Promise<unknown> | undefined;
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
  #head = Buffer.alloc(0);
  #size = 0;
  #stored: Promise<StoredObject | undefined> = Promise.resolve(undefined);
  #committed = false;

  constructor(receiving: Receiving) {
    this.#receiving = receiving;
    this.#hash = receiving.hashed ? createHash('sha256') : undefined;
    this.#source = new Readable({ read: receiving.body.resume });
    // The store's reader, or nobody, hears of it.
    this.#source.on('error', () => {});
  }

  /** Takes the next bytes; what is beyond the limit is dropped. */
  write(bytes: Buffer): void {
    const { body } = this.#receiving;
    const isFirst = this.#size === 0;
    this.#size += bytes.length;
    if (this.tooLarge) {
      this.#source.destroy(new Error('media is too large'));
      // What is destroyed asks for nothing more.
      body.resume();
      return;
    }
    const missing = probeHeadBytes - this.#head.length;
    if (missing > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)]);
    this.#hash?.update(bytes);
    if (isFirst) {
      this.#stored = this.#put(bytes);
      this.#stored.catch((error) => this.tooLarge || body.stop(error));
    }
    if (!this.#source.push(bytes)) body.pause();
  }

  /** All bytes have come. Empty media is not stored. */
  end(): void {
    this.#source.push(null);
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
    return this.#head;
  }

  /** The SHA-256 of all its bytes, in hexadecimal digits, once it has ended; undefined where none was to be made. */
  get contentHash(): string | undefined {
    return this.#hash?.copy().digest('hex');
  }

  /** Size and tag of the media once it is in the store; undefined when it was empty or too large. @throws what kept it from being stored */
  async stored(): Promise<StoredObject | undefined> {
    return this.tooLarge ? undefined : this.#stored;
  }

  /** From now on the media belongs to a record that may exist: only the sweeper may remove it. */
  commit(): void {
    this.#committed = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#committed) return;
    this.#stop.abort(new Error('media is discarded'));
    try {
      if (await this.#stored) await this.#receiving.store.remove(mediaObject(this.key));
    } catch (error) {
      // What a store at fault has of it, nobody knows; after any other error it has nothing.
      if (error instanceof StoreUnavailable) this.#receiving.orphaned(this.key);
    }
  }

  async #put(first: Buffer): Promise<StoredObject> {
    const { store, verdict, begins } = this.#receiving;
    await verdict;
    await begins?.(first);
    return store.put(mediaObject(this.key), this.#source, { signal: this.#stop.signal });
  }
}
