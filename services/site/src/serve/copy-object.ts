import type { Readable, Writable } from 'node:stream';
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
/** Open objects whose readers have not taken the last chunk. An open object of S3 holds up to 256 KiB. */
export const maxWaiting = 64;
/** For each reader that has not taken its last chunk, the function that closes its object. The reader that waits longest is first. */
const waiting = new Set<() => void>();

/**
 * Copies a range of an object to a reader. `first` is the opened range. The copy closes the object if its reader takes nothing for two seconds,
 * or waits longest of more than 64: connections to the store are few, and each holds memory. When the reader continues, the copy opens the rest.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function copyObject(first: Readable, to: Writable, { store, object, range, signal }: Source) {
  const end = range.offset + range.length;
  let [offset, body] = [range.offset, first];
  while (true) {
    const begin = offset;
    let sent = Promise.resolve();
    for await (const chunk of body as AsyncIterable<Buffer>) {
      offset += chunk.length;
      sent = send(to, chunk);
      // Leaving the loop closes the object.
      if (!(await isSoon(sent))) break;
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

/** Resolves when the system has taken the chunk, or the reader has left. */
function send(to: Writable, chunk: Buffer): Promise<void> {
  return new Promise((resolve) => {
    to.write(chunk, () => resolve());
  });
}

/** Whether the reader takes the chunk before its object must be closed. */
function isSoon(sent: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const closeObject = () => {
    waiting.delete(closeObject);
    resolve(false);
  };
  const [longest] = waiting;
  if (waiting.size >= maxWaiting) longest?.();
  waiting.add(closeObject);
  const timer = setTimeout(closeObject, stallMs);
  sent.then(() => resolve(true));
  return promise.finally(() => {
    clearTimeout(timer);
    waiting.delete(closeObject);
  });
}
