import type { connectRedis } from '@echodrop/service/redis';
import { UnrecoverableError, Worker } from 'bullmq';
import { connectPatiently, type JobData, type QueueConnection, queuePrefix, within } from './queue-connection.ts';

// A dead worker's job is another's within ten seconds (TRAPS, BullMQ); one that kills two workers fails.
const recovery = { lockDuration: 6000, stalledInterval: 3000, maxStalledCount: 1 };

/** How a job ended, for the worker's log and metrics. */
export interface JobEnd {
  readonly queue: string;
  readonly jobId: string;
  readonly outcome: 'answered' | 'failed' | 'late';
  /** From its adding to its end. */
  readonly seconds: number;
  readonly error?: Error;
}

interface Serving<Q, A> {
  readonly name: string;
  readonly concurrency: number;
  readonly graceSeconds: number;
  /** Answers a question before `signal` aborts at the job's deadline; what it throws fails the job. */
  readonly answer: (question: Q, signal: AbortSignal) => Promise<A>;
  /** Gets the question too, where the job still has it. */
  readonly ended: (end: JobEnd, question?: Q) => void;
}

/** The answering end of a queue. Disposing lets running jobs finish within the grace; those that do not go back to the queue. */
export class ServedQueue<Q, A> implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #redis: ReturnType<typeof connectRedis>;

  constructor({ name, concurrency, graceSeconds, answer, ended }: Serving<Q, A>, connection: QueueConnection) {
    const stop = new AbortController();
    // Last of all: a job that is told to stop must not reach Redis any more, or it would fail instead of going back to the queue.
    this.#parts.defer(() => stop.abort(new Error('the worker stops')));
    this.#redis = this.#parts.use(connectPatiently(connection));
    const worker = new Worker<JobData<Q>, A>(
      name,
      async (job) => {
        const remaining = job.data.deadline - Date.now();
        if (remaining <= 0) throw new UnrecoverableError(late);
        return answer(job.data.question, AbortSignal.any([AbortSignal.timeout(remaining), stop.signal]));
      },
      { connection: this.#redis, prefix: queuePrefix, concurrency, ...recovery },
    );
    // Where Redis is away nothing can be finished. What still runs afterwards loses its lock, and so goes back to the queue.
    this.#parts.defer(() => within(this.#redis.status === 'ready' ? graceSeconds * 1000 : 0, worker.close()));
    worker.on('error', (error) =>
      connection.log.debug({ reason: error.message, queue: name }, 'worker lost its connection'),
    );
    worker.on('completed', (job) =>
      ended({ queue: name, jobId: String(job.id), outcome: 'answered', seconds: age(job) }, job.data.question),
    );
    worker.on('failed', (job, error) => {
      const outcome = error.message === late ? 'late' : 'failed';
      ended({ queue: name, jobId: String(job?.id), outcome, seconds: age(job), error }, job?.data.question);
    });
  }

  /** Resolves when Redis answers. */
  async ready(): Promise<void> {
    await this.#redis.ping();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

const late = 'past its deadline';

function age(job: { timestamp: number } | undefined): number {
  return job ? (Date.now() - job.timestamp) / 1000 : 0;
}
