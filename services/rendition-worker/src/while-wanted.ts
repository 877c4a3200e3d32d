import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { mediaObjectKey, userBlockKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

const lookMs = 2000;

/** The media is not in the store: it was taken down before the job was done. Where it was lost, the site's alarm tells (`media_missing`). */
export class MediaRemoved extends Error {
  override readonly name = 'MediaRemoved';

  constructor() {
    super('the media was removed from the store');
  }
}

/** The owner of the media is blocked: nothing that takes long is made for them meanwhile. */
export class OwnerBlocked extends Error {
  override readonly name = 'OwnerBlocked';

  constructor() {
    super('the owner of the media is blocked');
  }
}

type Media = Pick<RenditionRequest, 'mediaKey' | 'owner'>;

/**
 * Runs `work`, and looks every two seconds whether anybody still wants it: its signal aborts with MediaRemoved or OwnerBlocked if not, or as
 * `signal` does. A look at a store that is down says nothing.
 */
export async function whileWanted<T>(
  media: Media,
  store: ObjectStore,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const unwanted = new AbortController();
  const over = new AbortController();
  watch(media, store, over.signal, (reason) => unwanted.abort(reason));
  try {
    return await work(AbortSignal.any([signal, unwanted.signal]));
  } catch (error) {
    unwanted.signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}

async function watch(
  media: Media,
  store: ObjectStore,
  over: AbortSignal,
  found: (reason: Error) => void,
): Promise<void> {
  for (;;) {
    await sleep(lookMs, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const reason = await reasonToStop(media, store).catch(() => undefined);
    if (reason) return found(reason);
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
