import { isPhoto, type MediaType } from '@echodrop/media/detect-media-type';
import type { Probe } from '@echodrop/media/outcomes';
import { isWorkerDeath, type JobEnd } from '@echodrop/queue/job-outcome';
import { type Backlog, QueueUnavailable } from '@echodrop/queue/queue-client';
import { QueueClients } from '@echodrop/queue/queue-clients';
import type { QueueOptions } from '@echodrop/queue/queue-connection';
import { QueueWorker } from '@echodrop/queue/queue-worker';
import { FairSlotQueue } from '@echodrop/service/fair-slot-queue';

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
// One owner has half of a probe-worker's concurrency, so that slow probes of one owner do not delay those of others.
const probesOfOwner = { photos: 4, videos: 1 } as const;
const unlimited = Number.POSITIVE_INFINITY;

export type ProbeKind = keyof typeof queues;
type QueueName = (typeof queues)[ProbeKind];

type ProbeJob = Omit<ProbeRequest, 'head'> & { readonly head: string };

/** How long a probe may take, and whose media it is. */
interface ProbeWait {
  readonly owner: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called when the probe begins, with the time that it waited behind others of its owner. */
  readonly onOwnWait?: (ms: number) => void;
}

/** A probe had no time, because other probes of the same owner took it. */
export class OwnerBusy extends QueueUnavailable {}

/** Requests probes. */
export class ProbeClient extends QueueClients<QueueName, ProbeJob, Probe> {
  readonly #slots = { photos: slotsWithoutLimit(), videos: slotsWithoutLimit() };

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
    using held = new DisposableStack();
    const hasSlot = await this.#slots[kind].acquire(owner, probesOfOwner[kind], deadlineMs, held, signal);
    signal.throwIfAborted();
    if (!hasSlot) throw new OwnerBusy("waited too long behind the owner's other probes");
    const remainingMs = deadline - performance.now();
    const waitedMs = deadlineMs - remainingMs;
    onOwnWait?.(waitedMs);
    const job = { mediaKey, size, head: head.toString('base64') };
    try {
      const reply = this.clients[queues[kind]].request(job, { deadlineMs: remainingMs, signal });
      return await reply.catch(tooCostlyIfDeadly);
    } catch (cause) {
      if (!(cause instanceof QueueUnavailable) || waitedMs < deadlineMs / 2) throw cause;
      throw new OwnerBusy("too little time was left after the owner's other probes", { cause });
    }
  }

  /** The backlog of a queue, at most a second old; an unreadable queue counts as empty, and fails the request that follows. */
  async backlog(kind: ProbeKind): Promise<Backlog> {
    return (await this.backlogOf(queues[kind])) ?? empty;
  }
}

/** Slots that limit each owner, and not all owners together. */
function slotsWithoutLimit(): FairSlotQueue {
  return new FairSlotQueue({ slots: unlimited, maxWaiting: unlimited, maxWaitingOfOne: unlimited });
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
  /** Probes media. Unsupported media is a result. An error (a store that is down, a missing tool) fails the job. */
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
