import { Readable } from 'node:stream';
import { Checksum } from './checksum.ts';
import { ChecksumMismatch, StoreUnavailable } from './object-store.ts';

/**
 * Wraps `body`: its errors become StoreUnavailable, an abort of `signal` becomes the signal's reason, and destroying it releases
 * the socket or file of `body`. It fails at its end unless the CRC-32 is `expected` (eight hexadecimal digits).
 */
export function storeBody(body: Readable, signal: AbortSignal | undefined, expected?: string): Readable {
  const checksum = new Checksum();
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
    if (expected !== undefined) checksum.add(chunk);
    if (!wrapped.push(chunk)) source?.pause();
  });
  body.on('end', () => {
    if (expected === undefined || expected === checksum.hex) wrapped.push(null);
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
  const { code, message } = error as { code?: unknown; message?: unknown };
  const reason = [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return new StoreUnavailable(`object store request failed: ${reason || 'unknown'}`, { cause: error });
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
