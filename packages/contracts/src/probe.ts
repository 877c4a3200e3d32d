import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import type { Probe } from '@echodrop/media/outcomes';
import { isWorkerDeath, type JobEnd } from '@echodrop/queue/job-outcome';
import { OwnerBusy, OwnerLimit } from '@echodrop/queue/owner-limit';
import { type Backlog, QueueUnavailable } from '@echodrop/queue/queue-client';
import { QueueClients } from '@echodrop/queue/queue-clients';
import type { QueueOptions } from '@echodrop/queue/queue-connection';
import { QueueWorker } from '@echodrop/queue/queue-worker';

/** The most bytes of the media's head in a job: enough for most photos. */
export const probeHeadBytes = 16 * 1024;

/** The media to probe: its key, length in bytes, and first bytes. */
export interface ProbeRequest {
  readonly mediaKey: string;
  readonly size: number;
  readonly head: Buffer;
}

// Two queues, so that slow videos never hold up photos.
const queues = { photos: 'probe-photos', videos: 'probe-films' } as const;
const empty: Backlog = { waiting: 0, oldestMs: 0, unsupported: 0 };

export type ProbeKind = keyof typeof queues;
type QueueName = (typeof queues)[ProbeKind];

interface ProbeJob {
  readonly mediaKey: string;
  readonly size: number;
  readonly head: string;
}

/** How long a probe may take, and whose media it is. */
interface ProbeWait {
  readonly owner: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called when the probe begins, with the time that it waited behind others of its owner. */
  readonly onOwnWait?: (ms: number) => void;
}

/** Requests probes. */
export class ProbeClient extends QueueClients<QueueName, ProbeJob, Probe> {
  // Half of a probe-worker's concurrency, so that slow probes of one owner do not delay those of others.
  readonly #limits = { photos: new OwnerLimit(4), videos: new OwnerLimit(1) };

  constructor(options: QueueOptions) {
    super(Object.values(queues), options);
  }

  /**
   * Probes media of this type. Media that killed two workers is `too_costly`.
   * @throws OwnerBusy if other probes of the owner took most of the time; QueueUnavailable; the signal's reason
   */
  async probe(
    { mediaKey, size, head }: ProbeRequest,
    type: MediaType,
    { owner, deadlineMs, signal, onOwnWait }: ProbeWait,
  ): Promise<Probe> {
    const kind = isPhoto(type) ? 'photos' : 'videos';
    const deadline = performance.now() + deadlineMs;
    return this.#limits[kind].run(owner, { waitMs: deadlineMs, signal }, async (waitedMs) => {
      onOwnWait?.(waitedMs);
      const job = { mediaKey, size, head: head.toString('base64') };
      const waiting = { deadlineMs: deadline - performance.now(), signal };
      try {
        return await this.clients[queues[kind]].request(job, waiting).catch(tooCostlyIfDeadly);
      } catch (cause) {
        if (!(cause instanceof QueueUnavailable) || waitedMs < deadlineMs / 2) throw cause;
        throw new OwnerBusy("too little time was left after the owner's other jobs", { cause });
      }
    });
  }

  /** The backlog of a queue, at most a second old; an unreadable queue counts as empty, and fails the request that follows. */
  async backlog(kind: ProbeKind): Promise<Backlog> {
    return (await this.backlogOf(queues[kind])) ?? empty;
  }
}

/** Handles the error of a request: the reply for media that killed its workers. @throws every other error */
export function tooCostlyIfDeadly(error: unknown) {
  const cause = error instanceof QueueUnavailable ? error.cause : undefined;
  if (cause instanceof Error && isWorkerDeath(cause.message))
    return { outcome: 'unsupported', why: 'too_costly' } as const;
  throw error;
}

interface ProbeWorkerOptions {
  readonly photoConcurrency: number;
  readonly videoConcurrency: number;
  readonly graceSeconds: number;
  /** An error (a store that is down, a missing tool) fails the job; unsupported media is a result. */
  readonly probe: (request: ProbeRequest, signal: AbortSignal) => Promise<Probe>;
  readonly onEnd: (end: JobEnd, request?: Pick<ProbeRequest, 'mediaKey'>) => void;
}

/** Starts the workers of both queues. */
export function startProbeWorkers(
  { photoConcurrency, videoConcurrency, graceSeconds, probe, onEnd }: ProbeWorkerOptions,
  connection: QueueOptions,
): readonly QueueWorker<ProbeJob, Probe>[] {
  const handle = ({ mediaKey, size, head }: ProbeJob, signal: AbortSignal) =>
    probe({ mediaKey, size, head: Buffer.from(head, 'base64') }, signal);
  const start = (name: string, concurrency: number) =>
    new QueueWorker({ name, concurrency, graceSeconds, handle, onEnd }, connection);
  return [start(queues.photos, photoConcurrency), start(queues.videos, videoConcurrency)];
}
