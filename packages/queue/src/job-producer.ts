import { traceparent } from '@echodrop/service/tracing/trace';
import type { Job, Queue } from 'bullmq';
import { Batch } from './batch.ts';
import type { ClientConnection } from './client-connection.ts';
import { isUnattended, OwnerRoundRobin } from './owner-round-robin.ts';
import { type JobData, jobVersion } from './queue-connection.ts';

const maxKept = 10_000;
// A round trip costs the gateway a tenth of an upload of 200 KB, and no client waits for these jobs.
const collectMs = 20;

interface NewJob<Q> {
  readonly id: string;
  readonly request: Q;
  readonly deadlineMs: number;
  /** The channel for its end. */
  readonly reply: string;
  /** Owners take turns. A job without one precedes all that have one. */
  readonly owner?: string | undefined;
}

type Unattended<Q> = NewJob<Q> & { readonly owner: string; readonly traceparent: string | undefined };

/** Seals jobs and adds them to a queue, each with the priority of its owner's turn. */
export class JobProducer<Q, R> implements AsyncDisposable {
  readonly #connection: ClientConnection;
  readonly #queue: Queue<JobData<Q>, R, string>;
  readonly #keptSeconds: number;
  readonly #turns: OwnerRoundRobin;
  readonly #unattended: Batch<Unattended<Q>>;

  /** `keptSeconds`: how long the queue keeps ended jobs. The caller disposes of queue and connection. */
  constructor(connection: ClientConnection, queue: Queue<JobData<Q>, R, string>, keptSeconds: number) {
    this.#connection = connection;
    this.#queue = queue;
    this.#keptSeconds = keptSeconds;
    this.#turns = new OwnerRoundRobin(connection.redis, queue);
    this.#unattended = new Batch(collectMs, (jobs) => this.#addAll(jobs));
  }

  /** Adds a job that a client waits for. */
  async add(job: NewJob<Q>): Promise<void> {
    const priority = await this.#awaitedPriority(job.owner);
    const { name, data, opts } = this.#newJob({ ...job, traceparent: traceparent() }, priority);
    await this.#queue.add(name, data, opts);
  }

  /** Adds a job that no client waits for, together with others of the same 20 ms. */
  addUnattended(job: NewJob<Q> & { readonly owner: string }): Promise<void> {
    return this.#unattended.add({ ...job, traceparent: traceparent() });
  }

  /** Gives an unattended job an earlier turn, unless a worker has begun it. */
  async attend(job: Job<JobData<Q>, R, string>, owner: string | undefined): Promise<void> {
    if (job.processedOn || !isUnattended(job.priority)) return;
    const priority = await this.#awaitedPriority(owner);
    // A worker may have begun it meanwhile.
    await job.changePriority({ priority }).catch(() => {});
  }

  /** Adds the collected jobs. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#unattended[Symbol.asyncDispose]();
  }

  async #addAll(jobs: readonly Unattended<Q>[]): Promise<void> {
    this.#connection.redis.requireReady();
    const owners = jobs.map(({ owner }) => owner);
    const priorities = await this.#turns.next(owners, 'unattended');
    await this.#queue.addBulk(jobs.map((job, n) => this.#newJob(job, priorities[n])));
  }

  async #awaitedPriority(owner: string | undefined): Promise<number> {
    this.#connection.redis.requireReady();
    if (owner === undefined) return 0;
    const [priority = 0] = await this.#turns.next([owner], 'awaited');
    return priority;
  }

  #newJob(job: NewJob<Q> & Pick<Unattended<Q>, 'traceparent'>, priority = 0) {
    const { id: jobId, request, deadlineMs, reply } = job;
    const work = { version: jobVersion, deadline: Date.now() + deadlineMs, question: request } as const;
    const seal = this.#connection.seals.sealJob({ queue: this.#queue.name, jobId }, work);
    const kept = { age: this.#keptSeconds, count: maxKept };
    return {
      name: this.#queue.name,
      data: { ...work, traceparent: job.traceparent, reply, seal },
      opts: { jobId, priority, removeOnComplete: kept, removeOnFail: kept },
    };
  }
}
