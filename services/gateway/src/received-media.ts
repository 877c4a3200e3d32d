import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { probeHeadBytes } from '@echodrop/contracts/probe';
import { mediaObject, newMediaKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, type StoredObject, StoreUnavailable } from '@echodrop/object-store/object-store';

interface Receiving {
  /** The bytes are held back until it resolves. */
  readonly after?: Promise<unknown>;
  /** Called with the first bytes before they reach the store; what it rejects with ends the receiving. */
  readonly begins?: (first: Buffer) => Promise<void>;
  /** Whether `contentHash` will be asked for. */
  readonly hashed?: boolean;
}

/** Media on its way into the store. Whoever holds it disposes of it, and disposing discards it unless it was committed. */
export class ReceivedMedia implements AsyncDisposable {
  readonly key = newMediaKey();
  readonly #store: ObjectStore;
  readonly #orphaned: (key: string) => void;
  readonly #stop = new AbortController();
  #head = Buffer.alloc(0);
  #hash: Hash | undefined;
  #stored: Promise<StoredObject | undefined> = Promise.resolve(undefined);
  #tooLarge = false;
  #committed = false;

  /** `orphaned` is told of media that could not be removed and is left to the sweeper. */
  constructor(store: ObjectStore, orphaned: (key: string) => void) {
    this.#store = store;
    this.#orphaned = orphaned;
  }

  /**
   * Streams `bytes` into the store. Empty media is not stored.
   * @throws StoreUnavailable, what `after` or `begins` reject with, or the error of `bytes`
   */
  async receive(bytes: Readable, { after, begins, hashed }: Receiving): Promise<void> {
    await after;
    if (hashed) this.#hash = createHash('sha256');
    this.#stored = this.#put(bytes.iterator({ destroyOnReturn: false }), begins);
    await this.#stored.catch((error) => {
      if (!this.#tooLarge) throw error;
    });
  }

  /** What was stored is discarded, and what comes is dropped. */
  isTooLarge(): void {
    this.#tooLarge = true;
  }

  get tooLarge(): boolean {
    return this.#tooLarge;
  }

  /** The first bytes, up to 16 KiB. */
  get head(): Buffer {
    return this.#head;
  }

  /** The SHA-256 of all its bytes, in hexadecimal digits, once it is stored; undefined where none was to be made. */
  get contentHash(): string | undefined {
    return this.#hash?.copy().digest('hex');
  }

  /** Size and tag of the media in the store; undefined when it was empty or too large. */
  async stored(): Promise<StoredObject | undefined> {
    return this.#stored.catch(() => undefined);
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

  async #put(bytes: AsyncIterator<Buffer>, begins: Receiving['begins']): Promise<StoredObject | undefined> {
    const first = await bytes.next();
    if (first.done) return undefined;
    await begins?.(first.value);
    const source = Readable.from(this.#watched(first.value, bytes), { objectMode: false });
    return this.#store.put(mediaObject(this.key), source, { signal: this.#stop.signal });
  }

  async *#watched(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
    for (let chunk: IteratorResult<Buffer> = { value: first }; !chunk.done; chunk = await rest.next()) {
      if (this.#tooLarge) continue;
      const missing = probeHeadBytes - this.#head.length;
      if (missing > 0) this.#head = Buffer.concat([this.#head, chunk.value.subarray(0, missing)]);
      this.#hash?.update(chunk.value);
      yield chunk.value;
    }
    if (this.#tooLarge) throw new Error('media is too large');
  }
}
