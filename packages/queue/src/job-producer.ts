import { traceparent } from '@echodrop/service/tracing/trace';
import type { Job, Queue } from 'bullmq';
import { Batch } from './batch.ts';
import type { ClientConnection } from './client-connection.ts';
import { isUnattended, OwnerTurns } from './owner-turns.ts';
import { type JobData, jobVersion } from './queue-connection.ts';

const mostKept = 10_000;
// An exchange with Redis costs the gateway a tenth of an upload of 200 KB, and nobody waits for these jobs.
const collectMs = 20;

/** A job that is not in the queue yet. */
export interface NewJob<Q> {
  readonly id: string;
  readonly question: Q;
  readonly deadlineMs: number;
  /** The channel for its end. */
  readonly reply: string;
  /** Owners take turns. A job without one goes before all that have one. */
  readonly owner?: string | undefined;
}

/** An unattended job, with its owner and the trace that it belongs to. */
type Unattended<Q> = NewJob<Q> & { readonly owner: string; readonly traceparent: string | undefined };

/** Seals the jobs of a queue and adds them, each with the priority of its owner's turn. */
export class JobProducer<Q, A> implements AsyncDisposable {
  readonly #connection: ClientConnection;
  readonly #queue: Queue<JobData<Q>, A, string>;
  readonly #keptSeconds: number;
  readonly #turns: OwnerTurns;
  readonly #unattended: Batch<Unattended<Q>>;

  /** The queue keeps the ends of jobs for `keptSeconds`. The caller disposes of queue and connection. */
  constructor(connection: ClientConnection, queue: Queue<JobData<Q>, A, string>, keptSeconds: number) {
    this.#connection = connection;
    this.#queue = queue;
    this.#keptSeconds = keptSeconds;
    this.#turns = new OwnerTurns(connection.redis, queue);
    this.#unattended = new Batch(collectMs, (jobs) => this.#addAll(jobs));
  }

  /** Adds a job that somebody waits for. */
  async add(job: NewJob<Q>): Promise<void> {
    const priority = await this.#awaitedPriority(job.owner);
    const { name, data, opts } = this.#newJob({ ...job, traceparent: traceparent() }, priority);
    await this.#queue.add(name, data, opts);
  }

  /** Adds a job that nobody waits for, together with all others of the same 20 ms. */
  addUnattended(job: NewJob<Q> & { readonly owner: string }): Promise<void> {
    return this.#unattended.add({ ...job, traceparent: traceparent() });
  }

  /** Gives a job an earlier turn if it was unattended until now, and no worker has begun it. */
  async attend(job: Job<JobData<Q>, A, string>, owner: string | undefined): Promise<void> {
    if (job.processedOn || !isUnattended(job.priority)) return;
    const priority = await this.#awaitedPriority(owner);
    // A worker may have begun it meanwhile.
    await job.changePriority({ priority }).catch(() => {});
  }

  /** Adds the jobs that are still to be added. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#unattended[Symbol.asyncDispose]();
  }

  async #addAll(jobs: readonly Unattended<Q>[]): Promise<void> {
    this.#connection.requireReady();
    const owners = jobs.map(({ owner }) => owner);
    const priorities = await this.#turns.next(owners, 'unattended');
    await this.#queue.addBulk(jobs.map((job, n) => this.#newJob(job, priorities[n])));
  }

  async #awaitedPriority(owner: string | undefined): Promise<number> {
    this.#connection.requireReady();
    if (owner === undefined) return 0;
    const [priority = 0] = await this.#turns.next([owner], 'awaited');
    return priority;
  }

  #newJob(job: NewJob<Q> & Pick<Unattended<Q>, 'traceparent'>, priority = 0) {
    const { id: jobId, question, deadlineMs, reply } = job;
    const work = { version: jobVersion, deadline: Date.now() + deadlineMs, question } as const;
    const seal = this.#connection.seals.sealJob({ queue: this.#queue.name, jobId }, work);
    const kept = { age: this.#keptSeconds, count: mostKept };
    return {
      name: this.#queue.name,
      data: { ...work, traceparent: job.traceparent, reply, seal },
      opts: { jobId, priority, removeOnComplete: kept, removeOnFail: kept },
    };
  }
}
