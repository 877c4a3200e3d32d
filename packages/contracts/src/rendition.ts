import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import type { Rendered } from '@echodrop/media/outcomes';
import { type RenditionSet, recipesOf } from '@echodrop/media/rendition-recipes';
import { isWorkerDeath, type JobEnd } from '@echodrop/queue/job-outcome';
import type { QueueClient } from '@echodrop/queue/queue-client';
import { QueueClients } from '@echodrop/queue/queue-clients';
import { jobVersion, type QueueOptions } from '@echodrop/queue/queue-connection';
import { QueueWorker } from '@echodrop/queue/queue-worker';
import type { EndReuse } from '@echodrop/queue/replies';
import type { SlowQueueOptions } from '@echodrop/queue/slow-queue';
import { tooCostlyIfDeadly } from './probe.ts';

/** One set of renditions of one media. */
export interface RenditionRequest {
  readonly mediaKey: string;
  readonly type: MediaType;
  readonly set: RenditionSet;
  /** Width x height as displayed, and the length of the file, to estimate the cost. Jobs of earlier releases have neither. */
  readonly pixels?: number;
  readonly bytes?: number;
  /** The hash of the media's owner: owners take turns. Media without one share the turns of one owner. */
  readonly owner?: string;
}

/** `made`: in the store. `unsupported`: impossible for this media, or while its type is off or its owner is blocked. */
export type RenditionReply = Rendered | { readonly outcome: 'unsupported'; readonly why: 'owner_blocked' };

/** Every job begins in `quick`. A job that costs too much is Deferred to `slow`, once. */
export type Lane = 'quick' | 'slow';

// The quick lane has two queues, so that pictures do not wait behind videos, which take minutes.
const queues = {
  pictures: 'rendition-pictures',
  video: 'rendition-films',
  slow: 'rendition-slow',
} as const;
type QueueName = (typeof queues)[keyof typeof queues];
const queueOf = (set: RenditionSet) => (set === 'film' ? queues.video : queues.pictures);
const ownerOf = ({ owner = 'unknown' }: RenditionRequest) => owner;
// A backlog may last for days, above all in the slow queue.
const deadlineMs = 7 * 24 * 60 * 60_000;
// For a store that hangs; rendering has limits of its own.
const maxSeconds = 3 * 60 * 60;

const soon = 10;
const hour = 60 * 60;

/**
 * For an hour, later requests read from the store that renditions cannot be made, or killed two workers. Other failures (a store that is
 * down, a full disk), deferred jobs and types that are off are tried again soon. Made renditions that are requested again were deleted.
 */
const reuse: EndReuse<RenditionReply> = {
  maxSeconds: hour,
  seconds(end) {
    if ('failure' in end) return isWorkerDeath(end.failure) ? hour : soon;
    if (end.reply.outcome === 'made') return 1;
    return end.reply.why === 'type_off' ? soon : hour;
  },
};

/** Requests renditions. */
export class RenditionClient extends QueueClients<QueueName, RenditionRequest, RenditionReply> {
  constructor(options: QueueOptions) {
    super(Object.values(queues), options, reuse);
  }

  /** Waits at most `waitMs` for renditions. Equal requests share one job, which goes on. @throws QueueUnavailable, the signal's reason */
  async make(request: RenditionRequest, wait: { waitMs: number; signal: AbortSignal }): Promise<RenditionReply> {
    // A smaller picture takes the place of a whole one, so readers of many old photos must not delay new ones.
    const isPatient = request.set === 'whole';
    const options = { ...wait, deadlineMs, jobId: jobIdOf(request), owner: ownerOf(request), isPatient };
    return this.clients[queueOf(request.set)].request(request, options).catch(tooCostlyIfDeadly);
  }

  /** The share of a video that is transcoded, from 0 to 1; undefined unless a worker does that now. @throws Error if Redis is out of reach */
  async videoProgress(media: Omit<RenditionRequest, 'set'>): Promise<number | undefined> {
    const shares = await this.#ofVideo(media, (queue, jobId) => queue.progressOf(jobId));
    return shares.find((share) => share !== undefined);
  }

  /** Whether a worker has the job that makes a video, after its pictures. @throws Error if Redis is out of reach */
  async isVideoRunning(media: Omit<RenditionRequest, 'set'>): Promise<boolean> {
    return (await this.#ofVideo(media, (queue, jobId) => queue.isRunning(jobId))).includes(true);
  }

  /** Enqueues the renditions that pages show, behind those that clients wait for. @throws QueueUnavailable */
  async enqueue(media: Omit<RenditionRequest, 'set'>): Promise<void> {
    const request = { ...media, set: isPhoto(media.type) ? 'pictures' : 'film' } as const;
    const options = { deadlineMs, jobId: jobIdOf(request), owner: ownerOf(request) };
    await this.clients[queueOf(request.set)].enqueue(request, options);
  }

  #ofVideo<T>(
    media: Omit<RenditionRequest, 'set'>,
    ask: (queue: QueueClient<RenditionRequest, RenditionReply>, jobId: string) => Promise<T>,
  ): Promise<T[]> {
    const jobId = jobIdOf({ ...media, set: 'film' });
    return Promise.all([queues.slow, queues.video].map((name) => ask(this.clients[name], jobId)));
  }
}

// With the versions of jobs and recipes: a job of another release, or one that it could not do, is a different job.
function jobIdOf(request: RenditionRequest): string {
  const { set, mediaKey } = request;
  const versions = recipesOf(set, request).map(({ version }) => version);
  return [set, `v${jobVersion}`, ...versions, mediaKey].join('-');
}

interface RenditionWorkerOptions {
  readonly pictureConcurrency: number;
  readonly videoConcurrency: number;
  readonly slowConcurrency: number;
  readonly graceSeconds: number;
  /** Throws Deferred if the job costs too much for the lane `quick`. `onProgress` gets the share that is done, from 0 to 1. */
  readonly render: (
    request: RenditionRequest,
    signal: AbortSignal,
    lane: Lane,
    onProgress: (share: number) => void,
  ) => Promise<RenditionReply>;
  readonly onEnd: (end: JobEnd, request?: RenditionRequest) => void;
}

/** Starts the workers of all queues. */
export function startRenditionWorkers(
  { pictureConcurrency, videoConcurrency, slowConcurrency, graceSeconds, render, onEnd }: RenditionWorkerOptions,
  options: QueueOptions,
): readonly QueueWorker<RenditionRequest, RenditionReply>[] {
  const start = (name: QueueName, concurrency: number, lane: Lane, slowQueue?: SlowQueueOptions<RenditionRequest>) => {
    const handle = (request: RenditionRequest, signal: AbortSignal, onProgress: (share: number) => void) =>
      render(request, signal, lane, onProgress);
    const worker = { name, concurrency, graceSeconds, maxSeconds, handle, onEnd, ...(slowQueue && { slowQueue }) };
    return new QueueWorker<RenditionRequest, RenditionReply>(worker, options);
  };
  const slowQueue = { name: queues.slow, ownerOf };
  return [
    start(queues.pictures, pictureConcurrency, 'quick', slowQueue),
    start(queues.video, videoConcurrency, 'quick', slowQueue),
    start(queues.slow, slowConcurrency, 'slow'),
  ];
}
