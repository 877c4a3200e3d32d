import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionClient, RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { recipesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';

type Client = Pick<RenditionClient, 'make' | 'videoProgress' | 'isVideoRunning'>;
type Store = Pick<ObjectStore, 'stat'>;
type Wait = Parameters<Client['make']>[1];

// If a worker is free, it takes a job that moved to the slow lane sooner.
const pollMs = 250;

/**
 * A rendition client that waits for the pictures of a video while the job of the video waits in the quick lane, or runs in either: it makes them
 * first, and another job would fetch the video again. They get a job of their own beside a video that waits in the slow lane, is ready or
 * cannot be made.
 */
export class VideoPictures implements Pick<Client, 'make' | 'videoProgress'> {
  readonly #client: Client;
  readonly #store: Store;

  constructor(client: Client, store: Store) {
    this.#client = client;
    this.#store = store;
  }

  /** Like `RenditionClient.make`. @throws QueueUnavailable, StoreUnavailable, or the signal's reason */
  async make(request: RenditionRequest, wait: Wait): Promise<RenditionReply> {
    const areOfVideo = request.set === 'pictures' && !isPhoto(request.type);
    if (areOfVideo && (await this.#areMadeWithVideo(request, wait))) return { outcome: 'made' };
    return this.#client.make(request, wait);
  }

  /** Like `RenditionClient.videoProgress`. @throws Error if Redis is out of reach */
  videoProgress(media: Omit<RenditionRequest, 'set'>): Promise<number | undefined> {
    return this.#client.videoProgress(media);
  }

  async #areMadeWithVideo(request: RenditionRequest, { waitMs, signal }: Wait): Promise<boolean> {
    const { mediaKey } = request;
    if (await this.#store.stat(renditionKey(mediaKey, videoRecipe))) return false;
    const deadline = performance.now() + waitMs;
    // Pictures are stored in the order of their recipes, and long before a video that is transcoded.
    const last = recipesOf('pictures', request).at(-1);
    const areStored = async () => last && (await this.#store.stat(renditionKey(mediaKey, last))) !== undefined;
    const pause = () => sleep(pollMs, 'goes on' as const, { signal });
    const job = this.#client.make({ ...request, set: 'film' }, { waitMs, signal }).then(
      () => 'has ended' as const,
      () => 'is not in the quick lane' as const,
    );
    for (let state: Awaited<typeof job | ReturnType<typeof pause>> = 'goes on'; state === 'goes on'; ) {
      state = await Promise.race([job, pause()]);
      if (await areStored()) return true;
      if (state === 'has ended') return false;
    }
    do {
      await pause();
      if (await areStored()) return true;
      // The job of the video may still wait in the quick lane.
      if (performance.now() > deadline) throw new QueueUnavailable('timed out waiting for the job of the video');
    } while (await this.#client.isVideoRunning(request).catch(() => false));
    return false;
  }
}
