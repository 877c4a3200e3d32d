import { Readable } from 'node:stream';
import { reasonOf } from '@echodrop/service/reason-of';
import { Checksum } from './checksum.ts';
import { ChecksumMismatch, StoreUnavailable } from './object-store.ts';

interface ExpectedBody {
  /** Its number of bytes. */
  readonly length: number;
  /** Its CRC-32, in eight hexadecimal digits. */
  readonly crc32?: string | undefined;
}

/**
 * Wraps `body`: its errors become StoreUnavailable, an abort of `signal` becomes the signal's reason, and destroying it releases
 * the socket or file of `body`. It fails before a byte too many, and at its end unless length and CRC-32 are as expected.
 */
export function storeBody(body: Readable, signal: AbortSignal | undefined, { length, crc32 }: ExpectedBody): Readable {
  const checksum = new Checksum();
  let received = 0;
  let source: Readable | undefined = body;
  const wrapped = new Readable({
    // A second buffer would double what a slow reader holds.
    highWaterMark: 0,
    read() {
      source?.resume();
    },
    destroy(error, done) {
      signal?.removeEventListener('abort', stop);
      source?.destroy();
      // Frees its buffers and those of its socket, although the reader may keep the destroyed stream.
      source = undefined;
      done(error);
    },
  });
  const stop = () => wrapped.destroy(signal?.reason);
  body.on('data', (chunk) => {
    received += chunk.length;
    if (received > length) return wrapped.destroy(new StoreUnavailable(`object store sent more than ${length} bytes`));
    if (crc32 !== undefined) checksum.add(chunk);
    if (!wrapped.push(chunk)) source?.pause();
  });
  body.on('end', () => {
    if (received < length) wrapped.destroy(new StoreUnavailable(`object store sent ${received} of ${length} bytes`));
    else if (crc32 === undefined || crc32 === checksum.hex) wrapped.push(null);
    else wrapped.destroy(new ChecksumMismatch('stored bytes differ from their checksum'));
  });
  body.on('error', (error) => wrapped.destroy(toStoreUnavailable(error)));
  // A later reader still gets the error; until then it must not end the process.
  wrapped.on('error', () => {});
  if (signal?.aborted) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  return wrapped;
}

/** Wraps `error` as StoreUnavailable with a message of one line. */
export function toStoreUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const reason = reasonOf(error);
  const remedy = reason.startsWith('ERR_SSL_') ? ': check S3_ENDPOINT' : '';
  return new StoreUnavailable(`object store request failed: ${reason}${remedy}`, { cause: error });
}

/** The result of an operation of the store; undefined if it failed with an `expected` code. @throws StoreUnavailable */
export async function fromStore<T>(operation: Promise<T>): Promise<T>;
export async function fromStore<T>(operation: Promise<T>, ...expected: string[]): Promise<T | undefined>;
export async function fromStore<T>(operation: Promise<T>, ...expected: string[]): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (expected.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw toStoreUnavailable(error);
  }
}
