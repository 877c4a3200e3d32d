import { createHash } from 'node:crypto';
import { Checksum } from '@echodrop/object-store/checksum';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { partBytes } from '@echodrop/object-store/part-size';
import type { StoredRecord } from '@echodrop/record';

/**
 * Reads media and compares its length and checksum with the record: the CRC-32, or else the tag if that is an MD5. Stores with
 * SSE-KMS or SSE-C encryption have no MD5 tags, nor have filesystems.
 * @returns a description of the difference, if any
 * @throws StoreUnavailable
 */
export async function checkBytes(
  store: ObjectStore,
  key: string,
  record: Pick<StoredRecord, 'size' | 'etag' | 'crc32'>,
): Promise<string | undefined> {
  const reading = await store.read(key);
  if (!reading) return 'not found';
  const comparison = comparisonOf(record);
  let size = 0;
  try {
    for await (const chunk of reading.body) {
      size += chunk.length;
      comparison?.sum.add(chunk);
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    // If the store is ready, these bytes are unreadable.
    await store.ready();
    return error.message;
  }
  if (size !== record.size) return `has ${size} bytes instead of ${record.size}`;
  if (!comparison || comparison.sum.hex === comparison.recorded) return undefined;
  return `${comparison.name} is not ${comparison.recorded}`;
}

interface Comparison {
  readonly name: 'CRC-32' | 'MD5';
  readonly recorded: string;
  readonly sum: { add(bytes: Buffer): void; readonly hex: string };
}

function comparisonOf({ etag, crc32 }: Pick<StoredRecord, 'etag' | 'crc32'>): Comparison | undefined {
  if (crc32 !== undefined) return { name: 'CRC-32', recorded: crc32, sum: new Checksum() };
  const tag = /^[0-9a-f]{32}(?<parts>-\d+)?$/.exec(etag);
  if (!tag) return undefined;
  return {
    name: 'MD5',
    recorded: etag,
    sum: new StoreTag(tag.groups?.['parts'] ? partBytes : Number.POSITIVE_INFINITY),
  };
}

/** S3's tag: the MD5 of an object, or of a multipart upload the MD5 of its parts' MD5s, and their number. */
class StoreTag {
  readonly #maxSize: number;
  readonly #parts: Buffer[] = [];
  #part = createHash('md5');
  #size = 0;

  /** `maxSize` is the size of a part; infinite for a tag of the whole object. */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  add(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const piece = rest.subarray(0, this.#maxSize - this.#size);
      this.#part.update(piece);
      this.#size += piece.length;
      rest = rest.subarray(piece.length);
      if (this.#size === this.#maxSize) this.#endPart();
    }
  }

  get hex(): string {
    if (this.#maxSize === Number.POSITIVE_INFINITY) return this.#part.digest('hex');
    if (this.#size > 0) this.#endPart();
    return `${createHash('md5').update(Buffer.concat(this.#parts)).digest('hex')}-${this.#parts.length}`;
  }

  #endPart(): void {
    this.#parts.push(this.#part.digest());
    this.#part = createHash('md5');
    this.#size = 0;
  }
}
