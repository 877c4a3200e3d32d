import { hash, hkdfSync } from 'node:crypto';
import type { Secret } from '../secret.ts';

const blockBytes = 64;
const hashBytes = 32;
const initialBytes = 1024;

/** HMAC-SHA-256 (RFC 2104) with one key for many texts. For short texts, Node's `createHmac` costs six times as much. */
export class KeyedHash {
  /** Input of the first hash: the key's inner block, then the text. */
  #inner: Buffer;
  /** Input of the second hash: the key's outer block, then the first hash. */
  readonly #outer: Buffer;

  constructor(key: string | Buffer) {
    const bytes = Buffer.from(key);
    const block = Buffer.alloc(blockBytes);
    (bytes.length > blockBytes ? hash('sha256', bytes, 'buffer') : bytes).copy(block);
    this.#inner = Buffer.concat([block.map((byte) => byte ^ 0x36)], initialBytes);
    this.#outer = Buffer.concat([block.map((byte) => byte ^ 0x5c)], blockBytes + hashBytes);
  }

  /** The HMAC of `text`: 32 bytes. */
  digest(text: string): Buffer {
    return hash('sha256', this.#prepare(text), 'buffer');
  }

  hexDigest(text: string): string {
    return hash('sha256', this.#prepare(text));
  }

  #prepare(text: string): Buffer {
    const maxBytes = blockBytes + 3 * text.length;
    if (maxBytes > this.#inner.length) this.#inner = Buffer.concat([this.#inner], maxBytes);
    const length = blockBytes + this.#inner.write(text, blockBytes);
    hash('sha256', this.#inner.subarray(0, length), 'buffer').copy(this.#outer, blockBytes);
    return this.#outer;
  }
}

/** A keyed hash for each secret that is set, in their order. Each `purpose` has its own keys. */
export function hashesFor(secrets: readonly (Secret | undefined)[], purpose: string): readonly KeyedHash[] {
  return secrets.flatMap((each) =>
    each ? [new KeyedHash(Buffer.from(hkdfSync('sha256', each.reveal(), '', `echodrop ${purpose}`, 32)))] : [],
  );
}
