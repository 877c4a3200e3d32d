import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Response } from 'express';
import { allowProxyCache } from './allow-proxy-cache.ts';

// Smaller texts fit into one packet anyway.
const minCompressedBytes = 1024;

/** A text of responses. It is compressed for the first client that accepts gzip, and the result is kept. */
export class ResponseText {
  readonly #bytes: Buffer;
  readonly #etag: string;
  #gzip: Buffer | undefined;

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    // Weak, so both forms may have it (RFC 9110, section 8.8.1).
    this.#etag = `W/"${createHash('sha256').update(this.#bytes).digest('base64url')}"`;
  }

  /** The memory that it may take, with its compressed form. */
  get memoryBytes(): number {
    return 2 * this.#bytes.length;
  }

  /**
   * Sends the text, or 304 if the client has it. Compresses synchronously: a streaming encoder would live until the reader takes the text, and
   * would hold memory that `limitResponses` does not see. `isShared`: a proxy may cache it for seconds.
   */
  send(response: Response, isShared = false): void {
    const { req: request } = response;
    response.vary('Accept-Encoding').set('ETag', this.#etag);
    if (isShared) allowProxyCache(response);
    const isGzip =
      !request.fresh &&
      this.#bytes.length >= minCompressedBytes &&
      request.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (!isGzip) return void response.send(this.#bytes);
    // Copied, because a short result is a slice of a buffer of 16 KiB.
    this.#gzip ??= Buffer.from(gzipSync(this.#bytes));
    response.set('Content-Encoding', 'gzip').send(this.#gzip);
  }
}
