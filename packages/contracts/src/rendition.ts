import type { MediaType } from '@echodrop/media/media-type';
import { AskQueue } from './ask-queue.ts';
import type { QueueConnection } from './queue-connection.ts';
import { type JobEnd, ServedQueue } from './serve-queue.ts';

/** A rendition that is wanted: of which media, and by which recipe of packages/media. */
export interface RenditionQuestion {
  readonly mediaKey: string;
  readonly type: MediaType;
  readonly recipe: string;
}

/** `made`: it lies in the store. `unsupported`: no such rendition can be made of these bytes. */
export interface RenditionAnswer {
  readonly outcome: 'made' | 'unsupported';
}

// Pictures must not wait behind films, which take minutes.
const queues = { pictures: 'rendition-pictures', films: 'rendition-films' };
const deadlineMs = 30 * 60_000;

/** The asking end of the rendition wire: the site's, for what it finds missing. */
export class RenditionClient implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #pictures: AskQueue<RenditionQuestion, RenditionAnswer>;
  readonly #films: AskQueue<RenditionQuestion, RenditionAnswer>;

  constructor(connection: QueueConnection) {
    this.#pictures = this.#parts.use(new AskQueue(queues.pictures, connection));
    this.#films = this.#parts.use(new AskQueue(queues.films, connection));
  }

  /**
   * Asks for a rendition and waits at most `waitMs` for it; one job however many ask.
   * @throws QueueUnavailable when it is not there in time (the job goes on), or the signal's reason
   */
  async make(question: RenditionQuestion, waiting: { waitMs: number; signal: AbortSignal }): Promise<RenditionAnswer> {
    const queue = question.recipe === 'film' ? this.#films : this.#pictures;
    return queue.ask(question, { ...waiting, deadlineMs, jobId: `${question.recipe}-${question.mediaKey}` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

interface ServedRenditions {
  readonly pictureConcurrency: number;
  readonly filmConcurrency: number;
  readonly graceSeconds: number;
  readonly render: (question: RenditionQuestion, signal: AbortSignal) => Promise<RenditionAnswer>;
  readonly ended: (end: JobEnd) => void;
}

/** The rendition worker's end of the rendition wire: both queues. */
export function serveRenditions(
  { pictureConcurrency, filmConcurrency, graceSeconds, render: answer, ended }: ServedRenditions,
  connection: QueueConnection,
): readonly ServedQueue<RenditionQuestion, RenditionAnswer>[] {
  return [
    new ServedQueue(
      { name: queues.pictures, concurrency: pictureConcurrency, graceSeconds, answer, ended },
      connection,
    ),
    new ServedQueue({ name: queues.films, concurrency: filmConcurrency, graceSeconds, answer, ended }, connection),
  ];
}
