import { createHash } from 'node:crypto';
import { Checksum } from '@echodrop/object-store/checksum';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { partBytes } from '@echodrop/object-store/part-memory';
import type { StoredRecord } from '@echodrop/record';

/**
 * Reads all bytes of media: their length and their CRC-32; for a record without one, if it has a tag that S3 gave, their MD5. Of an upload in parts that is the MD5 of the
 * MD5s of its parts, which are of one size. A store that encrypts with keys of its own (SSE-KMS, SSE-C) gives no MD5s, a filesystem never does.
 * @returns what is wrong with them, in words @throws StoreUnavailable where the store cannot be reached, or the signal's reason
 */
export async function checkBytes(
  store: ObjectStore,
  key: string,
  { size, etag, crc32 }: Pick<StoredRecord, 'size' | 'etag' | 'crc32'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reading = await store.read(key, { signal });
  if (!reading) return 'it is gone';
  const checksum = new Checksum();
  const sum = new EtagSum();
  try {
    for await (const chunk of reading.body) {
      checksum.add(chunk);
      sum.add(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StoreUnavailable)) throw error;
    // The store answers, and these bytes it does not give.
    await store.ready();
    return error.message;
  }
  if (sum.size !== size) return `${sum.size} bytes can be read of ${size}`;
  if (crc32 !== undefined) return checksum.hex === crc32 ? undefined : `their CRC-32 is not ${crc32}`;
  const [, parts] = /^[0-9a-f]{32}(?:-(\d+))?$/.exec(etag) ?? [undefined, 'no MD5'];
  if (parts === 'no MD5' || sum.etag(parts !== undefined) === etag) return undefined;
  return `their MD5 is not ${etag}`;
}

/** The tag that S3 gives to bytes, in one piece or in our parts. */
class EtagSum {
  readonly #whole = createHash('md5');
  readonly #parts: Buffer[] = [];
  #part = createHash('md5');
  size = 0;

  add(chunk: Buffer): void {
    this.#whole.update(chunk);
    for (let rest = chunk; rest.length > 0; ) {
      const room = partBytes - (this.size % partBytes);
      const taken = rest.subarray(0, room);
      this.#part.update(taken);
      this.size += taken.length;
      rest = rest.subarray(taken.length);
      if (this.size % partBytes === 0) this.#endPart();
    }
  }

  etag(isInParts: boolean): string {
    if (!isInParts) return this.#whole.digest('hex');
    if (this.size % partBytes > 0) this.#endPart();
    return `${createHash('md5').update(Buffer.concat(this.#parts)).digest('hex')}-${this.#parts.length}`;
  }

  #endPart(): void {
    this.#parts.push(this.#part.digest());
    this.#part = createHash('md5');
  }
}
