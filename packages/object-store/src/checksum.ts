// Five times as fast as zlib's in Node 24, which does not use the processor's instructions for it.
import { crc32 } from '@node-rs/crc32';

const spelled = Buffer.alloc(4);

/** The CRC-32 of bytes as they pass (the one of zlib, and of S3's `x-amz-checksum-crc32`). */
export class Checksum {
  #value = 0;

  add(bytes: Buffer): void {
    this.#value = crc32(bytes, this.#value);
  }

  /** Eight hexadecimal digits. */
  get hex(): string {
    return this.#value.toString(16).padStart(8, '0');
  }

  /** As S3 spells it. */
  get base64(): string {
    spelled.writeUInt32BE(this.#value);
    return spelled.toString('base64');
  }
}
