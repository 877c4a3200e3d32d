import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { findTwice } from '@echodrop/object-store/find-twice';
import { mediaObjectKey, userBlockKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

const checkMs = 2000;

/** The media was removed from the store before the job ended. If it was lost, the site reports `media_missing`. */
export class MediaRemoved extends Error {
  override readonly name = 'MediaRemoved';
  override readonly message = 'the media was deleted from the store';
}

/** The owner of the media is blocked, so no renditions are made for them. */
export class OwnerBlocked extends Error {
  override readonly name = 'OwnerBlocked';
  override readonly message = 'the owner of the media is blocked';
}

type Media = Pick<RenditionRequest, 'mediaKey' | 'owner'>;

/**
 * Runs `work` unless its owner is blocked, and checks every two seconds whether its media was removed or its owner blocked. If so, or if `signal`
 * aborts, the signal of `work` aborts. Ignores checks that fail.
 * @throws MediaRemoved, OwnerBlocked, or what `work` throws
 */
export async function runUnlessRemoved<T>(
  media: Media,
  store: ObjectStore,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (await isBlocked(media, store).catch(() => false)) throw new OwnerBlocked();
  const unwanted = new AbortController();
  const stop = new AbortController();
  const watch = async () => {
    while (!unwanted.signal.aborted) {
      await sleep(checkMs, undefined, { signal: stop.signal });
      const reason = await reasonToStop(media, store, stop.signal).catch(() => undefined);
      if (reason) unwanted.abort(reason);
    }
  };
  // The pause rejects when the checks are stopped.
  watch().catch(() => {});
  try {
    return await work(AbortSignal.any([signal, unwanted.signal]));
  } catch (error) {
    unwanted.signal.throwIfAborted();
    throw error;
  } finally {
    stop.abort();
  }
}

async function reasonToStop(media: Media, store: ObjectStore, stopped: AbortSignal) {
  if (await isMediaRemoved(media.mediaKey, store, stopped)) return new MediaRemoved();
  return (await isBlocked(media, store)) ? new OwnerBlocked() : undefined;
}

async function isBlocked({ owner }: Media, store: ObjectStore): Promise<boolean> {
  return owner !== undefined && (await store.stat(userBlockKey(owner))) !== undefined;
}

/** Whether the media is missing from the store. @throws StoreUnavailable, or the signal's reason */
export async function isMediaRemoved(mediaKey: string, store: ObjectStore, signal?: AbortSignal): Promise<boolean> {
  return !(await findTwice(store, () => store.stat(mediaObjectKey(mediaKey)), signal));
}
