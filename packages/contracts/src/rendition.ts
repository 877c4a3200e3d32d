import { isPhoto, type MediaType } from '@echodrop/media/media-type';
import { type RenditionSet, recipesOf } from '@echodrop/media/recipes';
import type { Rendered } from '@echodrop/media/rendition-outcome';
import { type Backlog, Backlogs } from '@echodrop/queue/backlog';
import { AskConnection } from '@echodrop/queue/client-connection';
import type { JobEnd } from '@echodrop/queue/job-outcome';
import { AskQueue } from '@echodrop/queue/queue-client';
import { jobVersion, type QueueConnection } from '@echodrop/queue/queue-connection';
import { ServedQueue } from '@echodrop/queue/queue-worker';
import type { End } from '@echodrop/queue/replies';
import { diedWithIt, killedItsWorkers } from '@echodrop/queue/worker-crash';

/** Renditions that are wanted: of which media, and which set of them. */
export interface RenditionQuestion {
  readonly mediaKey: string;
  readonly type: MediaType;
  readonly set: RenditionSet;
  /** The hash of the media's owner: owners take turns. Those of media without one share a turn. */
  readonly owner?: string;
}

/**
 * `made`: they lie in the store. `unsupported`: no such renditions can be made of these bytes, or none are while their type is off or their
 * owner is blocked.
 */
export type RenditionAnswer = Rendered | { readonly outcome: 'unsupported'; readonly why: 'owner_blocked' };

/** Every job begins in `quick`. What costs too much there is Deferred: pictures to `slow`, videos to `medium` and from there to `slow`. */
export type Lane = 'quick' | 'medium' | 'slow';

// The one owner of all jobs whose owner is not known.
const unknownOwner = 'unknown';

// Pictures that somebody waits for must not wait behind videos, which take minutes.
const queues = { pictures: 'rendition-pictures', video: 'rendition-films' };
const queueOf = (set: RenditionSet) => (set === 'film' ? 'video' : 'pictures');
const ownerOf = ({ owner = unknownOwner }: RenditionQuestion) => owner;
const mediumLane = { name: 'rendition-medium', ownerOf };
const slowLane = { name: 'rendition-slow', ownerOf };
// After days of uploads, or of expensive ones in a slower lane, renditions are still worth making.
const begunWithinMs = 7 * 24 * 60 * 60_000;
// A net for a store that hangs: rendering has bounds of its own.
const mostSeconds = 3 * 60 * 60;

const soon = 10;
const hour = 60 * 60;

/**
 * For an hour nobody asks a worker again about what cannot be made, or killed two workers: later ones answer from the store. What broke down
 * for other reasons (a store that is down, a full disk), was deferred, or is turned off is tried again soon. What was made and is requested
 * again has been deleted.
 */
function standing(end: End<RenditionAnswer>): number {
  if ('failure' in end) return diedWithIt(end.failure) ? hour : soon;
  if (end.answer.outcome === 'made') return 1;
  return end.answer.why === 'type_off' ? soon : hour;
}

/** The asking end of the rendition wire: the gateway's for what was published, the site's for what it finds missing. */
export class RenditionClient implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #queues: Record<keyof typeof queues, AskQueue<RenditionQuestion, RenditionAnswer>>;
  readonly #backlogs: Backlogs<string>;

  constructor(connection: QueueConnection) {
    const asking = this.#parts.use(new AskConnection(connection));
    const opened = (name: string) =>
      this.#parts.use(
        new AskQueue<RenditionQuestion, RenditionAnswer>(name, asking, { seconds: standing, mostSeconds: hour }),
      );
    this.#queues = { pictures: opened(queues.pictures), video: opened(queues.video) };
    this.#backlogs = new Backlogs({
      [queues.pictures]: this.#queues.pictures,
      [queues.video]: this.#queues.video,
      [mediumLane.name]: opened(mediumLane.name),
      [slowLane.name]: opened(slowLane.name),
    });
  }

  /**
   * Asks for renditions and waits at most `waitMs` for them; one job however many ask.
   * @throws QueueUnavailable when they are not there in time (the job goes on), or the signal's reason
   */
  async make(question: RenditionQuestion, waiting: { waitMs: number; signal: AbortSignal }): Promise<RenditionAnswer> {
    const { owner = unknownOwner } = question;
    const asking = { ...waiting, deadlineMs: begunWithinMs, jobId: jobIdOf(question), owner };
    try {
      return await this.#queues[queueOf(question.set)].ask(question, asking);
    } catch (error) {
      if (killedItsWorkers(error)) return { outcome: 'unsupported', why: 'too_costly' };
      throw error;
    }
  }

  /**
   * Enqueues the renditions of media that pages show, and waits for none. Workers make those first that somebody waits for.
   * @throws QueueUnavailable
   */
  async enqueue(media: Omit<RenditionQuestion, 'set'>): Promise<void> {
    const set = isPhoto(media.type) ? 'pictures' : 'film';
    const question = { ...media, set } as const;
    const { owner = unknownOwner } = media;
    const enqueuing = { deadlineMs: begunWithinMs, jobId: jobIdOf(question), owner };
    await this.#queues[queueOf(set)].enqueue(question, enqueuing);
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

interface ServedRenditions {
  readonly pictureConcurrency: number;
  /** In each of the lanes `quick` and `medium`. */
  readonly videoConcurrency: number;
  readonly slowConcurrency: number;
  readonly graceSeconds: number;
  /** Throws Deferred if the job costs too much for a lane other than `slow`. */
  readonly render: (question: RenditionQuestion, signal: AbortSignal, lane: Lane) => Promise<RenditionAnswer>;
  readonly ended: (end: JobEnd, question?: RenditionQuestion) => void;
}

/** The rendition worker's end of the rendition wire: all of its queues. */
export function serveRenditions(
  { pictureConcurrency, videoConcurrency, slowConcurrency, graceSeconds, render: answer, ended }: ServedRenditions,
  connection: QueueConnection,
): readonly ServedQueue<RenditionQuestion, RenditionAnswer>[] {
  const served = (name: string, concurrency: number, lane: Lane, ...slowerLanes: (typeof slowLane)[]) =>
    new ServedQueue<RenditionQuestion, RenditionAnswer>(
      {
        ...{ name, concurrency, graceSeconds, mostSeconds, slowerLanes },
        answer: (question, signal) => answer(question, signal, lane),
        ended,
      },
      connection,
    );
  return [
    served(queues.pictures, pictureConcurrency, 'quick', slowLane),
    served(queues.video, videoConcurrency, 'quick', mediumLane, slowLane),
    served(mediumLane.name, videoConcurrency, 'medium', slowLane),
    served(slowLane.name, slowConcurrency, 'slow'),
  ];
}
