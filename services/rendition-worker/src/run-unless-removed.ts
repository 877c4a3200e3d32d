import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { mediaObjectKey, userBlockKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

const checkMs = 2000;

/** The media was removed from the store before the job ended. If it was lost, the site reports `media_missing`. */
export class MediaRemoved extends Error {
  override readonly name = 'MediaRemoved';

  constructor() {
    super('the media was deleted from the store');
  }
}

/** The owner of the media is blocked, so no renditions are made for them. */
export class OwnerBlocked extends Error {
  override readonly name = 'OwnerBlocked';

  constructor() {
    super('the owner of the media is blocked');
  }
}

type Media = Pick<RenditionRequest, 'mediaKey' | 'owner'>;

/**
 * Runs `work` and checks every two seconds whether its media was removed or its owner blocked. If so, or if `signal` aborts,
 * the signal of `work` aborts. Ignores checks that fail.
 * @throws MediaRemoved, OwnerBlocked, or what `work` throws
 */
export async function runUnlessRemoved<T>(
  media: Media,
  store: ObjectStore,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const unwanted = new AbortController();
  const stop = new AbortController();
  watch(media, store, stop.signal, (reason) => unwanted.abort(reason));
  try {
    return await work(AbortSignal.any([signal, unwanted.signal]));
  } catch (error) {
    unwanted.signal.throwIfAborted();
    throw error;
  } finally {
    stop.abort();
  }
}

async function watch(
  media: Media,
  store: ObjectStore,
  stopped: AbortSignal,
  cancel: (reason: Error) => void,
): Promise<void> {
  for (;;) {
    await sleep(checkMs, undefined, { signal: stopped }).catch(() => {});
    if (stopped.aborted) return;
    const reason = await reasonToStop(media, store).catch(() => undefined);
    if (reason) return cancel(reason);
  }
}

async function reasonToStop({ mediaKey, owner }: Media, store: ObjectStore): Promise<Error | undefined> {
  const [media, block] = await Promise.all([
    store.stat(mediaObjectKey(mediaKey)),
    owner === undefined ? undefined : store.stat(userBlockKey(owner)),
  ]);
  if (!media) return new MediaRemoved();
  return block && new OwnerBlocked();
}
