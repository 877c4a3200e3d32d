import type { RenditionClient, RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { QueueUnavailable } from '@echodrop/queue/queue-client';
import { SharedWork } from './shared-work.ts';

type Client = Pick<RenditionClient, 'make' | 'videoProgress'>;

// A reply may be lost, so a request is repeated after this time, however many readers wait.
const maxRequestMs = 60_000;
// Each holds its record, of up to 64 KiB.
const maxWaiting = 1024;

/** A rendition client for many readers: those who wait for the same renditions share one request. */
export class SharedRenditions implements Client {
  readonly #client: Client;
  readonly #requests = new SharedWork();
  #waiting = 0;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Like `RenditionClient.make`. @throws QueueUnavailable, or the signal's reason */
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
        (cancelled) => this.#client.make(request, { waitMs: maxRequestMs, signal: cancelled }),
      );
    } finally {
      clearTimeout(timer);
      this.#waiting -= 1;
    }
  }

  /** Like `RenditionClient.videoProgress`. @throws Error if Redis is out of reach */
  videoProgress(media: Omit<RenditionRequest, 'set'>): Promise<number | undefined> {
    return this.#client.videoProgress(media);
  }
}
