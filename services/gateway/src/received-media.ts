import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { mediaObject, newMediaKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, type StoredObject, StoreUnavailable } from '@echodrop/object-store/object-store';

interface Receiving {
  /** Nothing reaches the store before it resolves. */
  readonly verdict?: Promise<unknown> | undefined;
  /** Called with the first bytes before they reach the store; what it rejects with ends the receiving. */
  readonly begins?: ((first: Buffer) => Promise<void>) | undefined;
  /** Whether `contentHash` will be asked for. */
  readonly hashed?: boolean | undefined;
  readonly maxBytes: number;
  /** Called after `write` has returned false, once more is wanted. */
  readonly drained: () => void;
  /** Called when the bytes cannot be stored. */
  readonly failed: (error: unknown) => void;
}

/** Media on its way into the store. Whoever holds it disposes of it, and disposing discards it unless it was committed. */
export class ReceivedMedia implements AsyncDisposable {
  readonly key = newMediaKey();
  readonly #store: ObjectStore;
  readonly #orphaned: (key: string) => void;
  readonly #receiving: Receiving;
  readonly #stop = new AbortController();
  readonly #source: Readable;
  readonly #hash: Hash | undefined;
  #head = Buffer.alloc(0);
  #size = 0;
  #stored: Promise<StoredObject | undefined> = Promise.resolve(undefined);
  #committed = false;

  /** `orphaned` is told of media that could not be removed and is left to the sweeper. */
  constructor(store: ObjectStore, orphaned: (key: string) => void, receiving: Receiving) {
    this.#store = store;
    this.#orphaned = orphaned;
    this.#receiving = receiving;
    this.#hash = receiving.hashed ? createHash('sha256') : undefined;
    this.#source = new Readable({ read: receiving.drained });
    // The store's reader, or nobody, hears of it.
    this.#source.on('error', () => {});
  }

  /** Takes the next bytes; what is beyond the limit is dropped. @returns false where no more should come until `drained` */
  write(bytes: Buffer): boolean {
    const isFirst = this.#size === 0;
    this.#size += bytes.length;
    if (this.tooLarge) {
      this.#source.destroy(new Error('media is too large'));
      // What is destroyed asks for nothing more.
      this.#receiving.drained();
      return true;
    }
    const missing = probeHeadBytes - this.#head.length;
    if (missing > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, missing)]);
    this.#hash?.update(bytes);
    if (isFirst) {
      this.#stored = this.#put(bytes);
      this.#stored.catch((error) => this.tooLarge || this.#receiving.failed(error));
    }
    return this.#source.push(bytes);
  }

  /** All bytes have come. Empty media is not stored. */
  end(): void {
    this.#source.push(null);
    // What has ended asks for nothing more.
    this.#receiving.drained();
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
      if (await this.#stored) await this.#store.remove(mediaObject(this.key));
    } catch (error) {
      // What a store at fault has of it, nobody knows; after any other error it has nothing.
      if (error instanceof StoreUnavailable) this.#orphaned(this.key);
    }
  }

  async #put(first: Buffer): Promise<StoredObject> {
    const { verdict, begins } = this.#receiving;
    await verdict;
    await begins?.(first);
    return this.#store.put(mediaObject(this.key), this.#source, { signal: this.#stop.signal });
  }
}
