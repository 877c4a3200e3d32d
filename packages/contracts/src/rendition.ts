import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import type { Rendered } from '@echodrop/media/outcomes';
import { type RenditionSet, recipesOf } from '@echodrop/media/rendition-recipes';
import { isWorkerDeath, type JobEnd } from '@echodrop/queue/job-outcome';
import { QueueClients } from '@echodrop/queue/queue-clients';
import { jobVersion, type QueueOptions } from '@echodrop/queue/queue-connection';
import { QueueWorker } from '@echodrop/queue/queue-worker';
import type { EndReuse } from '@echodrop/queue/replies';
import type { SlowLaneOptions } from '@echodrop/queue/slow-lane';
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

/** `made`: the renditions are in the store. `unsupported`: they are impossible for this media, or while its type is off or its owner is blocked. */
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
// No worker begins a job later. A backlog may last for days, above all in the slow lane.
const deadlineMs = 7 * 24 * 60 * 60_000;
// A job whose store hangs ends after this time. Rendering has limits of its own.
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
    const jobId = jobIdOf({ ...media, set: 'film' });
    const shares = await Promise.all([queues.slow, queues.video].map((name) => this.clients[name].progressOf(jobId)));
    return shares.find((share) => share !== undefined);
  }

  /** Enqueues the renditions that pages show, behind renditions that clients wait for. @throws QueueUnavailable */
  async enqueue(media: Omit<RenditionRequest, 'set'>): Promise<void> {
    const request = { ...media, set: isPhoto(media.type) ? 'pictures' : 'film' } as const;
    const options = { deadlineMs, jobId: jobIdOf(request), owner: ownerOf(request) };
    await this.clients[queueOf(request.set)].enqueue(request, options);
  }
}

// The id has the versions of jobs and recipes. So a job of another release, or one that another release could not do, is a different job.
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
  const start = (name: QueueName, concurrency: number, lane: Lane, slowLane?: SlowLaneOptions<RenditionRequest>) => {
    const handle = (request: RenditionRequest, signal: AbortSignal, onProgress: (share: number) => void) =>
      render(request, signal, lane, onProgress);
    const worker = { name, concurrency, graceSeconds, maxSeconds, handle, onEnd, ...(slowLane && { slowLane }) };
    return new QueueWorker<RenditionRequest, RenditionReply>(worker, options);
  };
  const slowLane = { name: queues.slow, ownerOf };
  return [
    start(queues.pictures, pictureConcurrency, 'quick', slowLane),
    start(queues.video, videoConcurrency, 'quick', slowLane),
    start(queues.slow, slowConcurrency, 'slow'),
  ];
}
