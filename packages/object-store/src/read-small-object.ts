import type { ObjectStore } from './object-store.ts';

/** An object has more bytes than any small object that Echodrop writes. */
export class ObjectTooLarge extends Error {
  override readonly name = 'ObjectTooLarge';

  constructor(maxBytes: number) {
    super(`larger than ${maxBytes} bytes`);
  }
}

/** Reads a whole object into memory; undefined if it does not exist. @throws ObjectTooLarge, StoreUnavailable, or the signal's reason */
export async function readSmallObject(
  store: Pick<ObjectStore, 'read'>,
  key: string,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  const reading = await store.read(key, signal && { signal });
  if (reading && reading.size > maxBytes) {
    reading.body.destroy();
    throw new ObjectTooLarge(maxBytes);
  }
  // `buffer` of node:stream/consumers makes a Blob, which takes longer than the read.
  return reading && Buffer.concat(await reading.body.toArray());
}
