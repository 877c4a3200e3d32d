import { Readable } from 'node:stream';
import { Checksum } from './checksum.ts';
import { ChecksumMismatch, StoreUnavailable } from './object-store.ts';

/**
 * `body` as a reader of the store sees it: its failures are StoreUnavailable, an abort of `signal` is the signal's reason, and
 * destroying it destroys `body`, which releases the socket or file behind it. Bytes that have another CRC-32 than `expected` (eight hexadecimal digits) fail at their end.
 */
export function storeBody(body: Readable, signal: AbortSignal | undefined, expected?: string): Readable {
  const checksum = new Checksum();
  const given = new Readable({
    read() {
      body.resume();
    },
    destroy(error, done) {
      signal?.removeEventListener('abort', stopped);
      body.destroy();
      done(error);
    },
  });
  const stopped = () => given.destroy(signal?.reason);
  body.on('data', (chunk) => {
    if (expected !== undefined) checksum.add(chunk);
    if (!given.push(chunk)) body.pause();
  });
  body.on('end', () => {
    if (expected === undefined || expected === checksum.hex) given.push(null);
    else given.destroy(new ChecksumMismatch('the bytes differ from their checksum in the store'));
  });
  body.on('error', (error) => given.destroy(storeFault(error)));
  // Whoever reads later learns of it all the same; until somebody does, it must not end the process.
  given.on('error', () => {});
  if (signal?.aborted) stopped();
  else signal?.addEventListener('abort', stopped, { once: true });
  return given;
}

/** What went wrong in the store, in one line; the error itself is the cause. */
export function storeFault(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const { code, message } = error as { code?: unknown; message?: unknown };
  const said = [code, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
  return new StoreUnavailable(`the store failed (${said || 'no reason given'})`, { cause: error });
}
