import { buffer } from 'node:stream/consumers';
import type { RangedSource } from '@echodrop/media/input/source-reader';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

interface Media {
  readonly mediaKey: string;
  /** Bytes. */
  readonly size: number;
  readonly head: Buffer;
}

/** Reads media in the store by ranges, and counts the reads. */
export class StoredMedia implements RangedSource {
  readonly size: number;
  readonly head: Buffer;
  readonly #store: ObjectStore;
  readonly #key: string;
  #reads = 0;
  #bytesRead = 0;

  constructor(store: ObjectStore, { mediaKey, size, head }: Media) {
    this.#store = store;
    this.#key = mediaObjectKey(mediaKey);
    this.size = size;
    this.head = head;
  }

  get costs(): { readonly reads: number; readonly bytesRead: number } {
    return { reads: this.#reads, bytesRead: this.#bytesRead };
  }

  /** @throws StoreUnavailable, the signal's reason, or an Error if the media is missing */
  async read(offset: number, length: number, signal: AbortSignal): Promise<Buffer> {
    const object = await this.#store.read(this.#key, { range: { offset, length }, signal });
    if (object === undefined) throw new Error('the media is not in the store');
    const bytes = await buffer(object.body);
    this.#reads += 1;
    this.#bytesRead += bytes.length;
    return bytes;
  }
}
