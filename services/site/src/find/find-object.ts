import { buffer } from 'node:stream/consumers';
import type { StoredObject } from '@echodrop/object-store/object-store';
import type { MediaSources } from './find-media.ts';

export type ObjectSources = Pick<MediaSources, 'store' | 'memory'>;

/** The largest object whose bytes are remembered. */
export const maxSharedBytes = 512 * 1024;

/** Finds an object of the store; undefined if it does not exist. @throws StoreUnavailable, or the signal's reason */
export function findObject(
  key: string,
  { store, memory }: ObjectSources,
  signal: AbortSignal,
): Promise<StoredObject | undefined> | StoredObject | undefined {
  return memory.find(
    key,
    signal,
    () => store.stat(key),
    (object) => object && 0,
  );
}

/** The bytes of an object; undefined if it no longer exists, or was replaced. Readers share them. @throws StoreUnavailable, or the signal's reason */
export function readShared(
  { key, etag }: StoredObject,
  { store, memory }: ObjectSources,
  signal: AbortSignal,
): Promise<Buffer | undefined> | Buffer | undefined {
  const read = async (cancelled: AbortSignal) => {
    const reading = await store.read(key, { signal: cancelled });
    if (reading?.etag === etag) return buffer(reading.body);
    reading?.body.destroy();
    return undefined;
  };
  return memory.find(`bytes ${etag} ${key}`, signal, read, (bytes) => bytes?.length);
}

/** Forgets that an object was found. @returns whether that was still remembered */
export function forgetObject(object: StoredObject, { memory }: ObjectSources): boolean {
  return memory.forgetValue(object.key, object);
}
