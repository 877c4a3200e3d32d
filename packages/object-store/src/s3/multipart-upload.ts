import type { Readable } from 'node:stream';
import type { SourceOptions } from '../consume-source.ts';
import type { PartMemory } from '../part-memory.ts';
import type { StoredBytes } from './conditional-writes.ts';
import { fillParts } from './fill-parts.ts';
import type { WrittenPart } from './multipart-requests.ts';
import { PartBuffer } from './part-buffer.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { PartsLost } from './store-response.ts';

interface Upload extends SourceOptions {
  readonly memory: PartMemory;
  readonly contentType: string;
  readonly isReplacement: boolean;
  /** See PutOptions. */
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
  const target = new S3Target(bucket, key, contentType);
  try {
    const size = await fillParts(source, part, { ...options, sendFull: () => target.sendPart(part) });
    // For a replacement, a proof would find the earlier object.
    const written = { size, ...(await target.finish(part, { mayBeProved: !isReplacement })) };
    const etag = (isReplacement && written.etag) || (await bucket.conditional.requireStored(key, written));
    options.signal?.throwIfAborted();
    return { key, size, etag, crc32: part.checksumOfAll.hex };
  } catch (error) {
    part.empty({ hasFailed: true });
    await target.discard(isReplacement);
    throw error;
  }
}

/** The multipart upload or object of one upload. */
class S3Target {
  readonly #bucket: S3Bucket;
  readonly #key: string;
  readonly #contentType: string;
  readonly #parts: WrittenPart[] = [];
  #uploadId: string | undefined;
  #finishing = false;

  constructor(bucket: S3Bucket, key: string, contentType: string) {
    this.#bucket = bucket;
    this.#key = key;
    this.#contentType = contentType;
  }

  async sendPart(part: PartBuffer): Promise<void> {
    this.#uploadId ??= await this.#bucket.multipart.create(this.#key, this.#contentType);
    const query = { uploadId: this.#uploadId, partNumber: `${this.#parts.length + 1}` };
    const etag = await this.#bucket.objects.put(this.#key, part, { query });
    this.#parts.push({ etag, crc32: part.checksum.base64 });
    part.empty();
  }

  /** Sends the last part and completes the object. If `mayBeProved`, the caller proves that it exists: the response may have been lost. */
  async finish(last: PartBuffer, { mayBeProved }: { mayBeProved: boolean }): Promise<Omit<StoredBytes, 'size'>> {
    if (this.#uploadId === undefined) {
      this.#finishing = true;
      return { etag: await this.#bucket.objects.put(this.#key, last, { contentType: this.#contentType }), parts: 1 };
    }
    await this.sendPart(last);
    this.#finishing = true;
    const { multipart } = this.#bucket;
    const completed = multipart.complete(this.#key, this.#uploadId, this.#parts, last.checksumOfAll.base64);
    const etag = await completed.catch((error: unknown) => {
      if (mayBeProved && error instanceof PartsLost) return multipart.tagOf(this.#parts.map((part) => part.etag));
      throw error;
    });
    return { etag, parts: this.#parts.length };
  }

  /** Removes what may have been written, except a replaced object. If the store cannot be reached, a later sweep does it. */
  async discard(isReplacement: boolean): Promise<void> {
    const removals = [
      this.#uploadId !== undefined && this.#bucket.abortUpload(this.#key, this.#uploadId),
      this.#finishing && !isReplacement && this.#bucket.remove(this.#key),
    ];
    await Promise.allSettled(removals);
  }
}
