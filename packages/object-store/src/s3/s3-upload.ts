import type { Readable } from 'node:stream';
import { consumeSource } from '../consume-source.ts';
import type { PartMemory } from '../part-memory.ts';
import type { MinioBucket } from './minio-bucket.ts';
import type { WrittenPart } from './signed-requests.ts';
import { UploadPart } from './upload-part.ts';

interface Upload {
  readonly memory: PartMemory;
  readonly signal: AbortSignal | undefined;
  readonly contentType: string;
  readonly isReplacement: boolean;
}

/**
 * Streams `source` into the object `key`: one PUT if it ends within one part, else a multipart upload. Then it makes sure that the object is there.
 * At most one part is held, and while it is sent nothing is read. When anything fails, a request that is in flight is
 * waited for and then all is taken back, as far as the store can be reached.
 * @throws the source's own error, the reason of `signal`, or StoreUnavailable
 */
export async function uploadToS3(
  bucket: MinioBucket,
  key: string,
  source: Readable,
  { memory, signal, contentType, isReplacement }: Upload,
) {
  using part = new UploadPart(memory, (reason) => source.destroy(reason));
  const target = new S3Target(bucket, key, contentType);
  let size = 0;
  const takeRest = async (taken: number | Promise<number>, chunk: Buffer, halted: AbortSignal) => {
    for (let rest = chunk.subarray(await taken); rest.length > 0; rest = rest.subarray(await part.fill(rest, halted))) {
      if (part.full) await target.sendPart(part);
    }
  };
  try {
    await consumeSource(source, signal, (chunk, halted) => {
      size += chunk.length;
      const taken = part.fill(chunk, halted);
      return taken === chunk.length ? undefined : takeRest(taken, chunk, halted);
    });
    const etag = await target.finish(part);
    // Of a replacement it would find the earlier object.
    if (!isReplacement) await bucket.data.requireStored(key, etag);
    signal?.throwIfAborted();
    return { key, size, etag, crc32: part.checksumOfAll.hex };
  } catch (error) {
    part.empty({ hasFailed: true });
    await target.takeBack(isReplacement);
    throw error;
  }
}

/** What the store has of one upload so far. */
class S3Target {
  readonly #bucket: MinioBucket;
  readonly #key: string;
  readonly #contentType: string;
  readonly #parts: WrittenPart[] = [];
  #uploadId: string | undefined;
  #finishing = false;

  constructor(bucket: MinioBucket, key: string, contentType: string) {
    this.#bucket = bucket;
    this.#key = key;
    this.#contentType = contentType;
  }

  async sendPart(part: UploadPart): Promise<void> {
    this.#uploadId ??= await this.#bucket.createUpload(this.#key, this.#contentType);
    const query = { uploadId: this.#uploadId, partNumber: `${this.#parts.length + 1}` };
    const etag = await this.#bucket.data.put(this.#key, part, { query });
    this.#parts.push({ etag, crc32: part.checksum.base64 });
    part.empty();
  }

  /** Sends `last` and makes the object whole. @returns its tag */
  async finish(last: UploadPart): Promise<string> {
    if (this.#uploadId === undefined) {
      this.#finishing = true;
      return this.#bucket.data.put(this.#key, last, { contentType: this.#contentType });
    }
    await this.sendPart(last);
    this.#finishing = true;
    return this.#bucket.data.completeUpload(this.#key, this.#uploadId, this.#parts);
  }

  /** Removes what may be there, but not what it was to replace. The sweeper removes what an unreachable store keeps. */
  async takeBack(isReplacement: boolean): Promise<void> {
    const removals = [
      this.#uploadId !== undefined && this.#bucket.abortUpload(this.#key, this.#uploadId),
      this.#finishing && !isReplacement && this.#bucket.remove(this.#key),
    ];
    await Promise.allSettled(removals);
  }
}
