import { Sealer } from '@echodrop/service/sealer';
import type { JobData, QueueOptions } from './queue-connection.ts';
import type { End, WireEnd } from './replies.ts';

interface JobPlace {
  readonly queue: string;
  readonly jobId: string;
}

/** An answer as a worker leaves it in Redis. */
export interface SealedAnswer<A> {
  readonly answer: A;
  readonly seal: string;
}

/** Seals jobs and answers for the job that they are of (docs/decisions/032). */
export class JobSeals {
  readonly #sealer: Sealer;
  readonly #forgeries: QueueOptions['forgeries'];

  constructor({ secret, forgeries }: Pick<QueueOptions, 'secret' | 'forgeries'>) {
    this.#sealer = new Sealer(secret, 'jobs');
    this.#forgeries = forgeries;
  }

  sealJob(of: JobPlace, work: Work): string {
    return this.#sealer.seal(place('job', of), textOf(work));
  }

  /** Whether an asking end has added this job; one that it has not is counted. */
  hasAdded(of: JobPlace, data: JobData<unknown>): boolean {
    const text = writable(() => textOf(data));
    const fits = text !== undefined && this.#sealer.fits(data.seal, place('job', of), text);
    if (!fits) this.#forgeries.found('job', { ...of });
    return fits;
  }

  sealAnswer<A>(of: JobPlace, answer: A): SealedAnswer<A> {
    return { answer, seal: this.#sealer.seal(place('answer', of), JSON.stringify(answer)) };
  }

  /** The end of a job. Undefined for an answer that no worker has given, which is counted; a failure has no seal. */
  open<A>(of: JobPlace, end: WireEnd<A>): End<A> | undefined {
    if ('failure' in end) return end;
    const { answer, seal } = end;
    const text = writable(() => JSON.stringify(answer));
    if (text !== undefined && this.#sealer.fits(seal, place('answer', of), text)) return { answer };
    this.#forgeries.found('answer', { ...of });
    return undefined;
  }
}

/** What a worker goes by. The rest of a job, `reply` and `traceparent`, needs no seal: rewriting it gains nothing. */
type Work = Pick<JobData<unknown>, 'version' | 'deadline' | 'question'>;

// What was read from JSON is written again as it was.
function textOf({ version, deadline, question }: Work): string {
  return JSON.stringify([version, deadline, question]);
}

// JSON.parse reads nesting of any depth, JSON.stringify overflows the stack at some thousand levels: nothing that deep was sealed.
function writable(write: () => string | undefined): string | undefined {
  try {
    return write();
  } catch {
    return undefined;
  }
}

function place(kind: 'job' | 'answer', { queue, jobId }: JobPlace): string[] {
  return [kind, queue, jobId];
}
