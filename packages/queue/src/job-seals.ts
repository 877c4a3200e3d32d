import { Sealer } from '@echodrop/service/sealer';
import type { JobData, QueueOptions } from './queue-connection.ts';
import type { End, WireEnd } from './replies.ts';

interface JobPlace {
  readonly queue: string;
  readonly jobId: string;
}

/** A reply in Redis. */
export interface SealedReply<R> {
  readonly answer: R;
  readonly seal: string;
}

/** Seals jobs and replies, each for one job of one queue (docs/decisions/032). */
export class JobSeals {
  readonly #sealer: Sealer;
  readonly #forgeries: QueueOptions['forgeries'];

  constructor({ secret, forgeries }: Pick<QueueOptions, 'secret' | 'forgeries'>) {
    this.#sealer = new Sealer(secret, 'jobs');
    this.#forgeries = forgeries;
  }

  sealJob(place: JobPlace, work: Work): string {
    return this.#sealer.seal(sealContext('job', place), textOf(work));
  }

  /** Whether a client added this job. Counts a forged one. */
  isAuthentic(place: JobPlace, data: JobData<unknown>): boolean {
    const text = stringify(() => textOf(data));
    const fits = text !== undefined && this.#sealer.fits(data.seal, sealContext('job', place), text);
    if (!fits) this.#forgeries.report('job', { ...place });
    return fits;
  }

  sealReply<R>(place: JobPlace, answer: R): SealedReply<R> {
    return { answer, seal: this.#sealer.seal(sealContext('answer', place), JSON.stringify(answer)) };
  }

  /** The end of a job, or undefined for a forged reply, which it counts. A failure has no seal. */
  open<R>(place: JobPlace, end: WireEnd<R>): End<R> | undefined {
    if ('failure' in end) return end;
    const { answer, seal } = end;
    const text = stringify(() => JSON.stringify(answer));
    if (text !== undefined && this.#sealer.fits(seal, sealContext('answer', place), text)) return { answer };
    this.#forgeries.report('reply', { ...place });
    return undefined;
  }
}

/** The sealed part of a job. Rewriting the rest, `reply` and `traceparent`, gains nothing. */
type Work = Pick<JobData<unknown>, 'version' | 'deadline' | 'question'>;

function textOf({ version, deadline, question }: Work): string {
  return JSON.stringify([version, deadline, question]);
}

// JSON.parse reads nesting of any depth, JSON.stringify overflows the stack at some thousand levels: nothing that deep was sealed.
function stringify(write: () => string | undefined): string | undefined {
  try {
    return write();
  } catch {
    return undefined;
  }
}

function sealContext(kind: 'job' | 'answer', { queue, jobId }: JobPlace): string[] {
  return [kind, queue, jobId];
}
