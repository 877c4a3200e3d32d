import { createHash } from 'node:crypto';
import { Checksum } from '@echodrop/object-store/checksum';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { partBytes } from '@echodrop/object-store/part-memory';
import type { StoredRecord } from '@echodrop/record';

/**
 * Reads all bytes of media, and compares their length and the one checksum that the record has: its CRC-32, else its tag if that is an MD5.
 * A store that encrypts with keys of its own (SSE-KMS, SSE-C) gives no MD5s. A filesystem never does.
 * @returns what is wrong with them, in words
 * @throws StoreUnavailable, or the signal's reason
 */
export async function checkBytes(
  store: ObjectStore,
  key: string,
  record: Pick<StoredRecord, 'size' | 'etag' | 'crc32'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reading = await store.read(key, { signal });
  if (!reading) return 'it is gone';
  const comparison = comparisonOf(record);
  let size = 0;
  try {
    for await (const chunk of reading.body) {
      size += chunk.length;
      comparison?.sum.add(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof StoreUnavailable)) throw error;
    // The store answers, and does not give these bytes.
    await store.ready();
    return error.message;
  }
  if (size !== record.size) return `${size} bytes can be read of ${record.size}`;
  if (!comparison || comparison.sum.hex === comparison.recorded) return undefined;
  return `their ${comparison.name} is not ${comparison.recorded}`;
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
  return { name: 'MD5', recorded: etag, sum: tag.groups?.['parts'] ? new Md5OfParts() : new Md5() };
}

class Md5 {
  readonly #hash = createHash('md5');

  add(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  get hex(): string {
    return this.#hash.digest('hex');
  }
}

/** The tag that S3 gives to an upload in our parts, which are of one size: the MD5 of their MD5s, and their number. */
class Md5OfParts {
  readonly #parts: Buffer[] = [];
  #part = createHash('md5');
  #partSize = 0;

  add(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0; ) {
      const taken = rest.subarray(0, partBytes - this.#partSize);
      this.#part.update(taken);
      this.#partSize += taken.length;
      rest = rest.subarray(taken.length);
      if (this.#partSize === partBytes) this.#endPart();
    }
  }

  get hex(): string {
    if (this.#partSize > 0) this.#endPart();
    return `${createHash('md5').update(Buffer.concat(this.#parts)).digest('hex')}-${this.#parts.length}`;
  }

  #endPart(): void {
    this.#parts.push(this.#part.digest());
    this.#part = createHash('md5');
    this.#partSize = 0;
  }
}
