import { isPhoto, type MediaType } from '@echodrop/media/media-type';
import { type RenditionSet, recipesOf } from '@echodrop/media/recipes';
import type { Rendered } from '@echodrop/media/render-pictures';
import { AskConnection } from './ask-connection.ts';
import { AskQueue, type Backlog } from './ask-queue.ts';
import { Backlogs } from './backlogs.ts';
import { diedWithIt, killedItsWorkers } from './died-with-it.ts';
import { jobVersion, type QueueConnection } from './queue-connection.ts';
import type { End } from './replies.ts';
import { type JobEnd, ServedQueue } from './serve-queue.ts';

/** Renditions that are wanted: of which media, and which set of them. */
export interface RenditionQuestion {
  readonly mediaKey: string;
  readonly type: MediaType;
  readonly set: RenditionSet;
}

/** `made`: they lie in the store. `unsupported`: no such renditions can be made of these bytes, or none are while their type is off. */
export type RenditionAnswer = Rendered;

/**
 * The question in a job. Workers of earlier releases know two sets, and make the whole picture with the others: `whole`,
 * which they overlook, asks later ones for it alone.
 */
type WireQuestion = Pick<RenditionQuestion, 'mediaKey' | 'type'> & {
  readonly set: 'pictures' | 'film';
  readonly whole?: true;
};

// Pictures that somebody waits for must not wait behind films, which take minutes.
const queues: Record<WireQuestion['set'], string> = { pictures: 'rendition-pictures', film: 'rendition-films' };
// After a long night of uploads renditions are still worth making.
const begunWithinMs = 24 * 60 * 60_000;
// A net for a store that hangs: rendering has bounds of its own, and what passes those is an answer about the media.
const mostSeconds = 60 * 60;

const soon = 10;
const hour = 60 * 60;

/**
 * What could not be made of media is not tried again for an hour, be it that its bytes are at fault or that they killed
 * two workers. What broke down for other reasons (a store that is down, a full disk) is tried again soon, and so is what
 * is turned off: it may be on again. What was made and is asked for again has been deleted.
 */
function standing(end: End<RenditionAnswer>): number {
  if ('failure' in end) return diedWithIt(end.failure) ? hour : soon;
  if (end.answer.outcome === 'made') return 1;
  return end.answer.why === 'type_off' ? soon : hour;
}

/** The asking end of the rendition wire: the gateway's for what was published, the site's for what it finds missing. */
export class RenditionClient implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #queues: Record<WireQuestion['set'], AskQueue<WireQuestion, RenditionAnswer>>;
  readonly #backlogs: Backlogs<string>;

  constructor(connection: QueueConnection) {
    const asking = this.#parts.use(new AskConnection(connection));
    const opened = (name: string) =>
      this.#parts.use(
        new AskQueue<WireQuestion, RenditionAnswer>(name, asking, { seconds: standing, mostSeconds: hour }),
      );
    this.#queues = { pictures: opened(queues.pictures), film: opened(queues.film) };
    this.#backlogs = new Backlogs({ [queues.pictures]: this.#queues.pictures, [queues.film]: this.#queues.film });
  }

  /**
   * Asks for renditions and waits at most `waitMs` for them; one job however many ask.
   * @throws QueueUnavailable when they are not there in time (the job goes on), or the signal's reason
   */
  async make(question: RenditionQuestion, waiting: { waitMs: number; signal: AbortSignal }): Promise<RenditionAnswer> {
    const asking = { ...waiting, deadlineMs: begunWithinMs, jobId: jobIdOf(question) };
    try {
      const wire = wireQuestion(question);
      return await this.#queues[wire.set].ask(wire, asking);
    } catch (error) {
      if (killedItsWorkers(error)) return { outcome: 'unsupported', why: 'too_costly' };
      throw error;
    }
  }

  /**
   * Asks for the renditions of media that pages show, and waits for none; those that somebody waits for are made first.
   * @throws QueueUnavailable
   */
  async wish(media: Pick<RenditionQuestion, 'mediaKey' | 'type'>): Promise<void> {
    const set = isPhoto(media.type) ? 'pictures' : 'film';
    const question = { mediaKey: media.mediaKey, type: media.type, set } as const;
    await this.#queues[set].wish(wireQuestion(question), { deadlineMs: begunWithinMs, jobId: jobIdOf(question) });
  }

  /** What waits in the queues, by their names; those that cannot be looked at are left out. */
  backlogs(): Promise<ReadonlyMap<string, Backlog>> {
    return this.#backlogs.all();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

// With the versions of jobs and recipes: what is left to workers of another release, or what an earlier one could not make, is no
// answer about what this one can.
function jobIdOf({ set, type, mediaKey }: RenditionQuestion): string {
  const versions = recipesOf(set, type).map(({ version }) => version);
  return [set, `v${jobVersion}`, ...versions, mediaKey].join('-');
}

function wireQuestion({ mediaKey, type, set }: RenditionQuestion): WireQuestion {
  return set === 'whole' ? { mediaKey, type, set: 'pictures', whole: true } : { mediaKey, type, set };
}

function questionOf({ whole, ...question }: WireQuestion): RenditionQuestion {
  return whole ? { ...question, set: 'whole' } : question;
}

interface ServedRenditions {
  readonly pictureConcurrency: number;
  readonly filmConcurrency: number;
  readonly graceSeconds: number;
  readonly render: (question: RenditionQuestion, signal: AbortSignal) => Promise<RenditionAnswer>;
  readonly ended: (end: JobEnd, question?: RenditionQuestion) => void;
}

/** The rendition worker's end of the rendition wire: both queues. */
export function serveRenditions(
  { pictureConcurrency, filmConcurrency, graceSeconds, render: answer, ended }: ServedRenditions,
  connection: QueueConnection,
): readonly ServedQueue<WireQuestion, RenditionAnswer>[] {
  const served = (name: string, concurrency: number) =>
    new ServedQueue<WireQuestion, RenditionAnswer>(
      {
        ...{ name, concurrency, graceSeconds, mostSeconds },
        answer: (wire, signal) => answer(questionOf(wire), signal),
        ended: (end, wire) => ended(end, wire && questionOf(wire)),
      },
      connection,
    );
  return [served(queues.pictures, pictureConcurrency), served(queues.film, filmConcurrency)];
}
