import type { Readable } from 'node:stream';
import type { SourceOptions } from '../consume-source.ts';
import type { PartMemory } from '../part-memory.ts';
import { fillParts } from './fill-parts.ts';
import type { WrittenPart } from './multipart-requests.ts';
import { PartBuffer } from './part-buffer.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { PartsLost } from './store-response.ts';

interface Upload extends SourceOptions {
  readonly memory: PartMemory;
  readonly contentType: string;
  readonly isReplacement: boolean;
  /** Who sends the upload (`PutOptions`). */
  readonly sender: string;
}

/**
 * Streams `source` into the object `key`: one PUT if it fits into one part, else a multipart upload. Then it checks that the object exists.
 * Holds at most one part; reading pauses while it is sent. After an error it waits for the running request and removes
 * what was written, if the store can be reached.
 * @throws the source's own error, the reason of `signal`, or StoreUnavailable
 */
export async function uploadToS3(
  bucket: S3Bucket,
  key: string,
  source: Readable,
  { memory, contentType, isReplacement, sender, ...options }: Upload,
) {
  using part = new PartBuffer(memory, { sender, crowdOut: (reason) => source.destroy(reason) });
  const target = new S3Target(bucket, key, { contentType, isReplacement });
  try {
    const size = await fillParts(source, part, { ...options, sendFull: () => target.sendPart(part) });
    const etag = await target.finish(part, size);
    options.signal?.throwIfAborted();
    return { key, size, etag, crc32: part.checksumOfAll.hex };
  } catch (error) {
    part.empty({ hasFailed: true });
    await target.discard();
    throw error;
  }
}

/** The multipart upload or object of one upload. */
class S3Target {
  readonly #bucket: S3Bucket;
  readonly #key: string;
  readonly #contentType: string;
  readonly #isReplacement: boolean;
  readonly #parts: WrittenPart[] = [];
  #uploadId: string | undefined;
  #finishing = false;

  constructor(
    bucket: S3Bucket,
    key: string,
    { contentType, isReplacement }: Pick<Upload, 'contentType' | 'isReplacement'>,
  ) {
    this.#bucket = bucket;
    this.#key = key;
    this.#contentType = contentType;
    this.#isReplacement = isReplacement;
  }

  async sendPart(part: PartBuffer): Promise<void> {
    this.#uploadId ??= await this.#bucket.multipart.create(this.#key, this.#contentType);
    const number = this.#parts.length + 1;
    this.#parts.push(await this.#bucket.multipart.putPart(this.#key, this.#uploadId, number, part));
    part.empty();
  }

  /**
   * Sends the last part, completes the object, and proves that it exists. A replacement is not proved: the proof would find the earlier object.
   * @returns its tag
   */
  async finish(last: PartBuffer, size: number): Promise<string> {
    const { conditional, multipart, objects } = this.#bucket;
    if (this.#uploadId === undefined) {
      this.#finishing = true;
      const etag = await objects.put(this.#key, last, { contentType: this.#contentType });
      return this.#isReplacement ? etag : conditional.requireStored(this.#key, { etag, size, parts: 1 });
    }
    await this.sendPart(last);
    this.#finishing = true;
    const completed = multipart.complete(this.#key, this.#uploadId, this.#parts, last.checksumOfAll.base64);
    if (this.#isReplacement) return completed;
    const etag = await completed.catch((error: unknown) => {
      // The response to an earlier try may have been lost.
      if (error instanceof PartsLost) return multipart.tagOf(this.#parts.map((part) => part.etag));
      throw error;
    });
    return conditional.requireStored(this.#key, { etag, size, parts: this.#parts.length });
  }

  /** Removes what may have been written, except a replaced object. If the store cannot be reached, a later sweep does it. */
  async discard(): Promise<void> {
    const removals = [
      this.#uploadId !== undefined && this.#bucket.abortUpload(this.#key, this.#uploadId),
      this.#finishing && !this.#isReplacement && this.#bucket.remove(this.#key),
    ];
    await Promise.allSettled(removals);
  }
}
