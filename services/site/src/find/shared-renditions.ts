import { setTimeout as sleep } from 'node:timers/promises';
import type { RenditionClient, RenditionReply, RenditionRequest } from '@echodrop/contracts/rendition';
import { QueueUnavailable } from '@echodrop/queue/queue-client';

type Asking = Pick<RenditionClient, 'make'>;

interface Asked {
  readonly answer: Promise<RenditionReply>;
  /** Aborted when nobody waits any more. */
  readonly over: AbortController;
  waiting: number;
}

// A question that is asked anew now and then, however many go on waiting: an answer may be lost.
const longestMs = 60_000;

/** The asking end of the rendition wire for many readers: those who wait for the same renditions at the same time ask once. */
export class SharedRenditions implements Asking {
  readonly #client: Asking;
  readonly #asked = new Map<string, Asked>();

  constructor(client: Asking) {
    this.#client = client;
  }

  /** As `RenditionClient.make`. @throws QueueUnavailable, or the signal's reason */
  async make(
    question: RenditionRequest,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<RenditionReply> {
    const key = `${question.set} ${question.mediaKey}`;
    const asked = this.#asked.get(key) ?? this.#ask(key, question);
    const done = new AbortController();
    asked.waiting += 1;
    try {
      const patience = sleep(waitMs, undefined, { signal: AbortSignal.any([signal, done.signal]) });
      const answer = await Promise.race([asked.answer, patience]);
      if (answer === undefined) throw new QueueUnavailable('no answer in time');
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      done.abort();
      asked.waiting -= 1;
      if (asked.waiting === 0) this.#end(key, asked);
    }
  }

  #ask(key: string, question: RenditionRequest): Asked {
    const over = new AbortController();
    const answer = this.#client.make(question, { waitMs: longestMs, signal: over.signal });
    const asked = { answer, over, waiting: 0 };
    this.#asked.set(key, asked);
    const end = () => this.#end(key, asked);
    answer.then(end, end);
    return asked;
  }

  #end(key: string, asked: Asked): void {
    if (this.#asked.get(key) === asked) this.#asked.delete(key);
    asked.over.abort();
  }
}
