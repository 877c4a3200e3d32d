import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from './object-store.ts';

export const chunkBytes = 64 * 1024;

/** A source of `bytes` in chunks of `size` bytes. */
export function inChunks(bytes: Buffer, size = chunkBytes): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })(),
    { objectMode: false },
  );
}

/** A source that fails after `size` bytes. */
export function failingAfter(size: number, failure: Error): Readable {
  return hangingAfter(size, (source) => source.destroy(failure));
}

/** A source that sends `size` bytes, then calls `then` and nothing more. */
export function hangingAfter(size: number, then: (source: Readable) => void): Readable {
  let sent = 0;
  return new Readable({
    read() {
      if (sent >= size) {
        setImmediate(then, this);
        return;
      }
      sent += chunkBytes;
      this.push(Buffer.alloc(chunkBytes, 1));
    },
  });
}

/** All bytes of an object; undefined if it does not exist. */
export async function bytesAt(store: ObjectStore, key: string): Promise<Buffer | undefined> {
  const reading = await store.read(key);
  return reading && buffer(reading.body);
}
