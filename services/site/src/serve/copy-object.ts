import type { Readable, Writable } from 'node:stream';
import { freeChunk } from '@echodrop/object-store/free-chunk';
import {
  type ByteRange,
  type ObjectStore,
  type StoredObject,
  StoreUnavailable,
} from '@echodrop/object-store/object-store';

interface Source {
  readonly store: Pick<ObjectStore, 'read'>;
  readonly object: StoredObject;
  readonly range: ByteRange;
  /** Aborted when the reader leaves. */
  readonly signal: AbortSignal;
}

// Longer than most readers pause.
const stallMs = 2000;
/**
 * An open object of S3 holds up to 256 KiB. While more than 64 readers have not taken their last chunks, an object is closed after half a second:
 * 200 viewers at 200 KB/s take a chunk sooner, and each reopening is a request to the store.
 */
export const maxWaiting = 64;
export const crowdStallMs = 500;
/** For each reader that has not taken its last chunk, since when, and the function that closes its object. The oldest is first. */
const waiting = new Map<() => void, number>();

/**
 * Copies a range of an object to a reader. `first` is the opened range. The copy closes the object if its reader takes nothing for two seconds,
 * or half a second beside more than 64 such readers: connections to the store are few, and each holds memory. When the reader continues, the
 * copy opens the rest. When `to` calls back for a chunk, it must be done with its memory, as a connection is.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function copyObject(first: Readable, to: Writable, { store, object, range, signal }: Source) {
  const end = range.offset + range.length;
  let offset = range.offset;
  let body = first;
  while (true) {
    const begin = offset;
    let sent = Promise.resolve();
    for await (const chunk of body as AsyncIterable<Buffer>) {
      offset += chunk.length;
      sent = send(to, chunk, signal);
      // Leaving the loop closes the object.
      if (!(await isSoon(sent)) || signal.aborted) break;
    }
    await sent;
    signal.throwIfAborted();
    if (offset === end) return;
    const rest = await store.read(object.key, { range: { offset, length: end - offset }, signal });
    if (rest?.etag !== object.etag || offset === begin) {
      rest?.body.destroy();
      throw new StoreUnavailable('object changed, removed or cut off while it was read');
    }
    body = rest.body;
  }
}

/** Resolves when the system has taken the chunk, or the reader has left. A chunk that was taken is empty from then on. */
function send(to: Writable, chunk: Buffer, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = () => resolve();
  // Node calls back for no chunk that is written between the end of a connection and its close event.
  signal.addEventListener('abort', stop, { once: true });
  to.write(chunk, (error) => {
    signal.removeEventListener('abort', stop);
    if (!error) freeChunk(chunk);
    resolve();
  });
  return promise;
}

/** Whether the reader takes the chunk before its object must be closed. */
function isSoon(sent: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const closeObject = () => {
    waiting.delete(closeObject);
    resolve(false);
  };
  const now = performance.now();
  waiting.set(closeObject, now);
  for (const [close, since] of waiting) {
    if (waiting.size <= maxWaiting || now - since < crowdStallMs) break;
    close();
  }
  const timer = setTimeout(closeObject, stallMs);
  sent.then(() => resolve(true));
  return promise.finally(() => {
    clearTimeout(timer);
    waiting.delete(closeObject);
  });
}
