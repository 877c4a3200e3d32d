import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectStore } from './object-store.ts';

/**
 * Looks a second time after a pause if the first search of the store finds nothing: a node that has just come back may miss recent writes.
 * Required before anything is deleted because something else is missing. @throws the signal's reason
 */
export async function findTwice<T>(
  { rereadMs }: Pick<ObjectStore, 'rereadMs'>,
  find: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  const found = await find();
  if (found !== undefined || rereadMs === 0) return found;
  await sleep(rereadMs, undefined, { signal }).catch(() => {});
  signal?.throwIfAborted();
  return find();
}
