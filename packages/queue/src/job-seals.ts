import { Sealer } from '@echodrop/service/seals/sealer';
import type { JobData, QueueOptions } from './queue-connection.ts';
import type { End, WireEnd } from './replies.ts';

interface JobPlace {
  readonly queue: string;
  readonly jobId: string;
}

/** A reply as it is in Redis. */
export interface SealedReply<R> {
  readonly answer: R;
  readonly seal: string;
}

/** Seals jobs and replies, each for one job of one queue (docs/decisions/job-queue.md). */
export class JobSeals {
  readonly #sealer: Sealer;
  readonly #forgeries: QueueOptions['forgeries'];

  constructor({ secret, forgeries }: Pick<QueueOptions, 'secret' | 'forgeries'>) {
    this.#sealer = new Sealer(secret, 'jobs');
    this.#forgeries = forgeries;
  }

  sealJob(place: JobPlace, work: Work): string {
    return this.#seal('job', place, sealedPart(work));
  }

  /** Whether a client added this job. A forged job is counted. */
  isAuthentic(place: JobPlace, data: JobData<unknown>): boolean {
    return this.#isValid('job', place, data.seal, sealedPart(data));
  }

  sealReply<R>(place: JobPlace, reply: R): SealedReply<R> {
    return { answer: reply, seal: this.#seal('answer', place, reply) };
  }

  /** The end of a job, or undefined for a forged reply, which is counted. A failure has no seal. */
  open<R>(place: JobPlace, end: WireEnd<R>): End<R> | undefined {
    if ('failure' in end) return end;
    const { answer: reply, seal } = end;
    return this.#isValid('answer', place, seal, reply) ? { reply } : undefined;
  }

  #seal(kind: 'job' | 'answer', { queue, jobId }: JobPlace, value: unknown): string {
    return this.#sealer.seal([kind, queue, jobId], JSON.stringify(value));
  }

  #isValid(kind: 'job' | 'answer', { queue, jobId }: JobPlace, seal: unknown, value: unknown): boolean {
    const text = stringify(value);
    const isValid = text !== undefined && this.#sealer.isValid(seal, [kind, queue, jobId], text);
    if (!isValid) this.#forgeries.report(kind === 'answer' ? 'reply' : kind, { queue, jobId });
    return isValid;
  }
}

type Work = Pick<JobData<unknown>, 'version' | 'deadline' | 'question'>;

// `reply` and `traceparent` are not sealed: who rewrites them gains nothing.
const sealedPart = ({ version, deadline, question }: Work) => [version, deadline, question];

// JSON.parse reads any depth of nesting. JSON.stringify overflows the stack at some thousand levels, so no client sealed such a value.
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
