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

/**
 * Copies a range of an object, of which `first` has been opened, one chunk after the other. While the reader stalls, it holds only a chunk: the
 * object is closed, and opened again where the copy stopped, because the store's connections and open files are few.
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

function isSoon(sent: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, stallMs, false);
  sent.then(() => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}
