import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionClient, RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { recipesOf, videoRecipe } from '@echodrop/media/rendition-recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { SharedWork } from './shared-work.ts';

type Client = Pick<RenditionClient, 'make'>;

// A reply may be lost, so a request is repeated after this time, however many readers wait.
const maxRequestMs = 60_000;
// Each holds its record, of up to 64 KiB.
const maxWaiting = 1024;
const pollMs = 250;

/** A rendition client for many readers: those who wait for the same renditions share one request. */
export class SharedRenditions implements Client {
  readonly #client: Client;
  readonly #store: Pick<ObjectStore, 'stat'>;
  readonly #requests = new SharedWork();
  #waiting = 0;

  constructor(client: Client, store: Pick<ObjectStore, 'stat'>) {
    this.#client = client;
    this.#store = store;
  }

  /** Like `RenditionClient.make`. @throws QueueUnavailable, StoreUnavailable, or the signal's reason */
  async make(
    request: RenditionRequest,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<RenditionReply> {
    if (this.#waiting >= maxWaiting) throw new QueueUnavailable('too many readers wait');
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new QueueUnavailable('timed out waiting for reply')), waitMs);
    this.#waiting += 1;
    try {
      return await this.#requests.join(
        `${request.set} ${request.mediaKey}`,
        AbortSignal.any([signal, late.signal]),
        (cancelled) => this.#request(request, cancelled),
      );
    } finally {
      clearTimeout(timer);
      this.#waiting -= 1;
    }
  }

  /** Requests renditions, but no pictures that the job of their video makes. */
  #request(request: RenditionRequest, signal: AbortSignal): Promise<RenditionReply> {
    const send = () => this.#client.make(request, { waitMs: maxRequestMs, signal });
    if (request.set !== 'pictures' || isPhoto(request.type)) return send();
    return this.#areMadeWithVideo(request, signal).then((isMade) => (isMade ? { outcome: 'made' } : send()));
  }

  /**
   * Whether the pictures of a video are stored while its job waits or runs in the quick lane: it makes them first, and another job would fetch the
   * video again. They get a job of their own if the video moved to the slow lane, is ready or cannot be made.
   */
  async #areMadeWithVideo(request: RenditionRequest, signal: AbortSignal): Promise<boolean> {
    const { mediaKey } = request;
    if (await this.#store.stat(renditionKey(mediaKey, videoRecipe))) return false;
    // Pictures are stored in the order of their recipes, and long before a video that is transcoded.
    const last = recipesOf('pictures', request).at(-1);
    const areStored = async () => last && (await this.#store.stat(renditionKey(mediaKey, last))) !== undefined;
    let isRunning = true;
    const end = () => {
      isRunning = false;
    };
    const job = this.#client.make({ ...request, set: 'film' }, { waitMs: maxRequestMs, signal }).then(end, end);
    while (isRunning) {
      await Promise.race([job, sleep(pollMs, undefined, { signal })]);
      if (await areStored()) return true;
    }
    return false;
  }
}
