import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Response } from 'express';

// Smaller texts fit into one packet anyway.
const minCompressedBytes = 1024;

/** A text of responses. The first client that accepts gzip has it compressed; the instance keeps the result. */
export class ResponseText {
  readonly #text: string;
  readonly #etag: string;
  #gzip: Buffer | undefined;

  constructor(text: string) {
    this.#text = text;
    // Weak, so both forms may have it (RFC 9110, section 8.8.1).
    this.#etag = `W/"${createHash('sha256').update(text).digest('base64url')}"`;
  }

  /**
   * Sends the text, or 304 if the client has it. Compresses synchronously: a streaming encoder would live until the reader takes the text, and
   * would hold memory that `limitResponses` does not see.
   */
  send(response: Response): void {
    const { req: request } = response;
    response.vary('Accept-Encoding').set('ETag', this.#etag);
    const isGzip =
      !request.fresh &&
      Buffer.byteLength(this.#text) >= minCompressedBytes &&
      request.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (!isGzip) return void response.send(this.#text);
    // Copied, because a short result is a slice of a buffer of 16 KiB.
    this.#gzip ??= Buffer.from(gzipSync(this.#text));
    response.set('Content-Encoding', 'gzip').send(this.#gzip);
  }
}
