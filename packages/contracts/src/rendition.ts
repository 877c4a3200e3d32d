import { isPhoto, type MediaType } from '@echodrop/media/media-type';
import { type RenditionSet, recipesOf } from '@echodrop/media/recipes';
import type { Rendered } from '@echodrop/media/rendition-outcome';
import { type Backlog, Backlogs } from '@echodrop/queue/backlog';
import { ClientConnection } from '@echodrop/queue/client-connection';
import type { JobEnd } from '@echodrop/queue/job-outcome';
import { QueueClient } from '@echodrop/queue/queue-client';
import { jobVersion, type QueueOptions } from '@echodrop/queue/queue-connection';
import { QueueWorker } from '@echodrop/queue/queue-worker';
import type { End } from '@echodrop/queue/replies';
import { isDeadlyJobError, isWorkerDeath } from '@echodrop/queue/worker-crash';

/** Renditions that are wanted: of which media, and which set of them. */
export interface RenditionRequest {
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
export type RenditionReply = Rendered | { readonly outcome: 'unsupported'; readonly why: 'owner_blocked' };

/** Every job begins in `quick`. What costs too much there is Deferred: pictures to `slow`, videos to `medium` and from there to `slow`. */
export type Lane = 'quick' | 'medium' | 'slow';

// The one owner of all jobs whose owner is not known.
const unknownOwner = 'unknown';

// Pictures that somebody waits for must not wait behind videos, which take minutes.
const queues = { pictures: 'rendition-pictures', video: 'rendition-films' };
const queueOf = (set: RenditionSet) => (set === 'film' ? 'video' : 'pictures');
const ownerOf = ({ owner = unknownOwner }: RenditionRequest) => owner;
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
function standing(end: End<RenditionReply>): number {
  if ('failure' in end) return isWorkerDeath(end.failure) ? hour : soon;
  if (end.answer.outcome === 'made') return 1;
  return end.answer.why === 'type_off' ? soon : hour;
}

/** The asking end of the rendition wire: the gateway's for what was published, the site's for what it finds missing. */
export class RenditionClient implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #queues: Record<keyof typeof queues, QueueClient<RenditionRequest, RenditionReply>>;
  readonly #backlogs: Backlogs<string>;

  constructor(connection: QueueOptions) {
    const asking = this.#parts.use(new ClientConnection(connection));
    const opened = (name: string) =>
      this.#parts.use(
        new QueueClient<RenditionRequest, RenditionReply>(name, asking, { seconds: standing, mostSeconds: hour }),
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
  async make(question: RenditionRequest, waiting: { waitMs: number; signal: AbortSignal }): Promise<RenditionReply> {
    const { owner = unknownOwner } = question;
    const asking = { ...waiting, deadlineMs: begunWithinMs, jobId: jobIdOf(question), owner };
    try {
      return await this.#queues[queueOf(question.set)].ask(question, asking);
    } catch (error) {
      if (isDeadlyJobError(error)) return { outcome: 'unsupported', why: 'too_costly' };
      throw error;
    }
  }

  /**
   * Enqueues the renditions of media that pages show, and waits for none. Workers make those first that somebody waits for.
   * @throws QueueUnavailable
   */
  async enqueue(media: Omit<RenditionRequest, 'set'>): Promise<void> {
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
function jobIdOf({ set, type, mediaKey }: RenditionRequest): string {
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
  readonly render: (question: RenditionRequest, signal: AbortSignal, lane: Lane) => Promise<RenditionReply>;
  readonly ended: (end: JobEnd, question?: RenditionRequest) => void;
}

/** The rendition worker's end of the rendition wire: all of its queues. */
export function startRenditionWorkers(
  { pictureConcurrency, videoConcurrency, slowConcurrency, graceSeconds, render: answer, ended }: ServedRenditions,
  connection: QueueOptions,
): readonly QueueWorker<RenditionRequest, RenditionReply>[] {
  const served = (name: string, concurrency: number, lane: Lane, ...slowerLanes: (typeof slowLane)[]) =>
    new QueueWorker<RenditionRequest, RenditionReply>(
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
