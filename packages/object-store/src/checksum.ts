// Node 24's zlib.crc32 does not use the processor's CRC instructions. This library is five times as fast.
import { crc32 } from '@node-rs/crc32';

const encoded = Buffer.alloc(4);

/** Running CRC-32, the same as in zlib and S3's `x-amz-checksum-crc32`. */
export class Checksum {
  #value: number;

  /** `before`: the checksum of the bytes before, eight hexadecimal digits. */
  constructor(before = '0') {
    this.#value = Number.parseInt(before, 16);
  }

  add(bytes: Buffer): void {
    this.#value = crc32(bytes, this.#value);
  }

  /** The checksum as eight hexadecimal digits. */
  get hex(): string {
    return this.#value.toString(16).padStart(8, '0');
  }

  /** The checksum in Base64, as S3's header has it. */
  get base64(): string {
    encoded.writeUInt32BE(this.#value);
    return encoded.toString('base64');
  }
}
