import type { MediaType } from '@echodrop/media/media-type';
import { isPhoto } from '@echodrop/media/media-type';
import type { Probe } from '@echodrop/media/probe-outcome';
import { type Backlog, Backlogs } from '@echodrop/queue/backlog';
import { ClientConnection } from '@echodrop/queue/client-connection';
import type { JobEnd } from '@echodrop/queue/job-outcome';
import { QueueClient } from '@echodrop/queue/queue-client';
import type { QueueOptions } from '@echodrop/queue/queue-connection';
import { QueueWorker } from '@echodrop/queue/queue-worker';
import { isDeadlyJobError } from '@echodrop/queue/worker-crash';

/** How many of the media's first bytes a job carries at most: enough for most photos. */
export const probeHeadBytes = 16 * 1024;

/** The media that is to be looked at: where it lies, its length in bytes, its first bytes. */
export interface ProbeRequest {
  readonly mediaKey: string;
  readonly size: number;
  readonly head: Buffer;
}

// Photos and videos have a queue each, so that slow videos never hold up photos.
const queues = { photos: 'probe-photos', videos: 'probe-films' } as const;
const empty: Backlog = { waiting: 0, oldestMs: 0, left: 0 };

/** What a queue of probes is for. */
export type ProbeKind = keyof typeof queues;

interface ProbeJob {
  readonly mediaKey: string;
  readonly size: number;
  readonly head: string;
}

/** The gateway's end of the probe wire. */
export class ProbeClient implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #photos: QueueClient<ProbeJob, Probe>;
  readonly #videos: QueueClient<ProbeJob, Probe>;
  readonly #backlogs: Backlogs<(typeof queues)[ProbeKind]>;

  constructor(connection: QueueOptions) {
    const asking = this.#parts.use(new ClientConnection(connection));
    this.#photos = this.#parts.use(new QueueClient(queues.photos, asking));
    this.#videos = this.#parts.use(new QueueClient(queues.videos, asking));
    this.#backlogs = new Backlogs({ [queues.photos]: this.#photos, [queues.videos]: this.#videos });
  }

  /**
   * What the media is. `type` is what its first bytes look like, and only chooses the queue. Media that killed two
   * workers is `too_costly`: it would kill more.
   * @throws QueueUnavailable, or the signal's reason
   */
  async probe(
    { mediaKey, size, head }: ProbeRequest,
    type: MediaType,
    waiting: { deadlineMs: number; signal: AbortSignal },
  ): Promise<Probe> {
    const queue = isPhoto(type) ? this.#photos : this.#videos;
    try {
      return await queue.ask({ mediaKey, size, head: head.toString('base64') }, waiting);
    } catch (error) {
      if (isDeadlyJobError(error)) return { outcome: 'unsupported', why: 'too_costly' };
      throw error;
    }
  }

  /**
   * What waits in a queue, at most a second old: all who ask share one look. A queue that cannot be looked at counts as empty;
   * whoever asks it a question finds out.
   */
  async backlog(kind: ProbeKind): Promise<Backlog> {
    return (await this.#backlogs.of(queues[kind])) ?? empty;
  }

  /** What waits in the queues, by their names; those that cannot be looked at are left out. */
  backlogs(): Promise<ReadonlyMap<string, Backlog>> {
    return this.#backlogs.all();
  }

  /** Resolves when the Redis that has both queues answers. */
  async ready(): Promise<void> {
    await this.#photos.ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

interface ServedProbes {
  readonly photoConcurrency: number;
  readonly videoConcurrency: number;
  readonly graceSeconds: number;
  /** What it throws (a store that is down, a tool that is missing) fails the job; what the media is not is an answer. */
  readonly probe: (question: ProbeRequest, signal: AbortSignal) => Promise<Probe>;
  readonly ended: (end: JobEnd, question?: Pick<ProbeRequest, 'mediaKey'>) => void;
}

/** The probe worker's end of the probe wire: both queues. */
export function startProbeWorkers(
  { photoConcurrency, videoConcurrency, graceSeconds, probe, ended }: ServedProbes,
  connection: QueueOptions,
): readonly QueueWorker<ProbeJob, Probe>[] {
  const answer = ({ mediaKey, size, head }: ProbeJob, signal: AbortSignal) =>
    probe({ mediaKey, size, head: Buffer.from(head, 'base64') }, signal);
  return [
    new QueueWorker({ name: queues.photos, concurrency: photoConcurrency, graceSeconds, answer, ended }, connection),
    new QueueWorker({ name: queues.videos, concurrency: videoConcurrency, graceSeconds, answer, ended }, connection),
  ];
}
