import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionClient, RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { QueueUnavailable } from '@echodrop/queue/queue-client';

type Client = Pick<RenditionClient, 'make' | 'videoProgress'>;

interface SharedRequest {
  readonly reply: Promise<RenditionReply>;
  /** Aborted when no reader waits any longer. */
  readonly cancel: AbortController;
  waiting: number;
}

// A reply may be lost, so a request is repeated after this time, however many readers wait.
const maxRequestMs = 60_000;
// Each holds its record, of up to 64 KiB.
const maxWaiting = 1024;

/** A rendition client for many readers: those who wait for the same renditions share one request. */
export class SharedRenditions implements Client {
  readonly #client: Client;
  readonly #requests = new Map<string, SharedRequest>();
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
    const key = `${request.set} ${request.mediaKey}`;
    const shared = this.#requests.get(key) ?? this.#send(key, request);
    const done = new AbortController();
    shared.waiting += 1;
    this.#waiting += 1;
    try {
      const timeout = sleep(waitMs, undefined, { signal: AbortSignal.any([signal, done.signal]) });
      const reply = await Promise.race([shared.reply, timeout]);
      if (reply === undefined) throw new QueueUnavailable('timed out waiting for reply');
      return reply;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      done.abort();
      shared.waiting -= 1;
      this.#waiting -= 1;
      if (shared.waiting === 0) this.#end(key, shared);
    }
  }

  /** Like `RenditionClient.videoProgress`. @throws Error if Redis is out of reach */
  videoProgress(media: Omit<RenditionRequest, 'set'>): Promise<number | undefined> {
    return this.#client.videoProgress(media);
  }

  #send(key: string, request: RenditionRequest): SharedRequest {
    const cancel = new AbortController();
    const reply = this.#client.make(request, { waitMs: maxRequestMs, signal: cancel.signal });
    const shared = { reply, cancel, waiting: 0 };
    this.#requests.set(key, shared);
    const end = () => this.#end(key, shared);
    reply.then(end, end);
    return shared;
  }

  #end(key: string, shared: SharedRequest): void {
    if (this.#requests.get(key) === shared) this.#requests.delete(key);
    shared.cancel.abort();
  }
}
