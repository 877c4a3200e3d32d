import { hash } from 'node:crypto';

const blockBytes = 64;
const hashBytes = 32;
const usualBytes = 1024;

/** HMAC-SHA-256 (RFC 2104) under one key, for many texts: Node's `createHmac` costs six times as much for a short text. */
export class KeyedHash {
  /** What is hashed first: the key's block, and the text behind it. */
  #inner: Buffer;
  /** What is hashed then: the key's other block, and the first hash. */
  readonly #outer: Buffer;

  constructor(key: string | Buffer) {
    const bytes = Buffer.from(key);
    const block = Buffer.alloc(blockBytes);
    (bytes.length > blockBytes ? hash('sha256', bytes, 'buffer') : bytes).copy(block);
    this.#inner = Buffer.concat([block.map((byte) => byte ^ 0x36)], usualBytes);
    this.#outer = Buffer.concat([block.map((byte) => byte ^ 0x5c)], blockBytes + hashBytes);
  }

  /** 32 bytes. */
  digest(text: string): Buffer {
    return hash('sha256', this.#prepare(text), 'buffer');
  }

  /** The same in hexadecimal digits. */
  hexDigest(text: string): string {
    return hash('sha256', this.#prepare(text));
  }

  #prepare(text: string): Buffer {
    const mostBytes = blockBytes + 3 * text.length;
    if (mostBytes > this.#inner.length) this.#inner = Buffer.concat([this.#inner], mostBytes);
    const length = blockBytes + this.#inner.write(text, blockBytes);
    hash('sha256', this.#inner.subarray(0, length), 'buffer').copy(this.#outer, blockBytes);
    return this.#outer;
  }
}
