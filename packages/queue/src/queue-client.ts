import { randomUUID } from 'node:crypto';
import { mayEndWithFailover } from '@echodrop/service/redis/failover';
import { retryFor } from '@echodrop/service/retry-for';
import { inSpan } from '@echodrop/service/tracing/trace';
import type { Job, Queue } from 'bullmq';
import type { ClientConnection } from './client-connection.ts';
import { JobProducer } from './job-producer.ts';
import type { SealedReply } from './job-seals.ts';
import { type JobState, JobWait } from './job-wait.ts';
import { type JobData, openQueue, requireQueues, waitAtMost } from './queue-connection.ts';
import type { End, EndReuse, WireEnd } from './replies.ts';

const keptSeconds = 60;

/** Redis is out of reach, no reply came in time, or the job failed. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

interface JobOptions {
  /** No worker begins the job later than this. */
  readonly deadlineMs: number;
  /** Requests with the same id share one job and its reply. */
  readonly jobId: string;
  /** Owners take turns; a job without one precedes all that have one. */
  readonly owner: string;
}

interface RequestOptions extends Partial<JobOptions> {
  readonly deadlineMs: number;
  /** How long this request waits; default: until the deadline. A shared job goes on without it, any other is removed. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /** Whether the job has the turn of one that no client waits for; default: no. */
  readonly isPatient?: boolean;
}

/** The jobs of a queue that no worker has begun. */
export interface Backlog {
  readonly waiting: number;
  /** Age of the oldest in milliseconds; if owners take turns, of the next in turn. */
  readonly oldestMs: number;
  /** Delayed jobs of another payload version. A worker that takes one delays it again; meanwhile it counts as waiting. */
  readonly unsupported: number;
}

/** Sends requests of type `Q` to a queue, and receives replies of type `R`. */
export class QueueClient<Q, R> implements AsyncDisposable {
  readonly #connection: ClientConnection;
  readonly #queue: Queue<JobData<Q>, SealedReply<R>, string>;
  readonly #producer: JobProducer<Q, SealedReply<R>>;
  readonly #reuse: EndReuse<R>;
  readonly #span: { readonly 'messaging.system': 'bullmq'; readonly 'messaging.destination.name': string };

  /** The caller disposes of the connection. */
  constructor(name: string, connection: ClientConnection, reuse: EndReuse<R> = reuseForMinute) {
    this.#connection = connection;
    this.#reuse = reuse;
    this.#span = { 'messaging.system': 'bullmq', 'messaging.destination.name': name };
    this.#queue = openQueue(name, connection.redis);
    this.#producer = new JobProducer(connection, this.#queue, reuse.maxSeconds);
  }

  /** Sends `request` and waits for the reply. @throws QueueUnavailable, or the signal's reason */
  request(request: Q, options: RequestOptions): Promise<R> {
    return inSpan(`request ${this.#queue.name}`, 'producer', this.#span, () => this.#request(request, options));
  }

  /** Adds a job without waiting for it, unless the queue has it or keeps its end. @throws QueueUnavailable */
  async enqueue(request: Q, { jobId: id, ...options }: JobOptions): Promise<void> {
    const reply = this.#connection.replies.sharedChannel(this.#queue.name, id);
    try {
      await inSpan(`enqueue ${this.#queue.name}`, 'producer', this.#span, () =>
        this.#producer.addUnattended({ id, request, reply, ...options }),
      );
    } catch (error) {
      throw new QueueUnavailable('failed to enqueue a job', { cause: error });
    }
  }

  /** @throws Error if Redis is out of reach */
  async backlog(): Promise<Backlog> {
    this.#connection.redis.requireReady();
    // BullMQ keeps jobs with a priority apart. The first without one is the oldest; the first with one is the next in turn.
    const [counts, firsts] = await Promise.all([
      this.#queue.getJobCounts('waiting', 'prioritized', 'delayed'),
      this.#queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
    ]);
    const ages = firsts.map(({ timestamp }) => Date.now() - timestamp);
    const { waiting = 0, prioritized = 0, delayed = 0 } = counts;
    return { waiting: waiting + prioritized, oldestMs: Math.max(0, ...ages), unsupported: delayed };
  }

  /** The share of a job that is done, from 0 to 1; undefined if it is not begun, has ended, or reports none. */
  async progressOf(jobId: string): Promise<number | undefined> {
    this.#connection.redis.requireReady();
    const fields = ['progress', 'finishedOn'] as const;
    const [progress, finishedOn] = await this.#connection.redis.hmget(this.#queue.toKey(jobId), ...fields);
    const share = Number.parseFloat(progress ?? '');
    return finishedOn === null && share >= 0 && share <= 1 ? share : undefined;
  }

  /** Resolves if Redis responds. @throws Error that says why not */
  ready(): Promise<void> {
    return requireQueues(this.#connection.redis);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { closeMs } = this.#connection.limits;
    await waitAtMost(closeMs, this.#producer[Symbol.asyncDispose]());
    await waitAtMost(closeMs, this.#queue.close());
  }

  async #request(request: Q, options: RequestOptions): Promise<R> {
    const { deadlineMs, waitMs = deadlineMs, signal, jobId, owner, isPatient = false } = options;
    signal?.throwIfAborted();
    const isShared = jobId !== undefined;
    const id = jobId ?? randomUUID();
    const deadline = Date.now() + deadlineMs;
    let isAdded = false;
    let isOver = false;
    const poll = async () => {
      if (!isAdded) return undefined;
      const state = await this.#poll(id, isShared);
      // A failover loses the latest jobs, and a wiped Redis all.
      if (state === undefined && !isOver) await addOnce();
      return state;
    };
    using wait = new JobWait<R>({ waitMs, pollMs: this.#connection.limits.pollMs, signal, poll });
    // Ignores a forged reply: the worker's own may still come. A failure has no seal, so the job itself is read.
    const receive = (received: WireEnd<R>) => {
      if ('failure' in received) return wait.poll();
      const end = this.#open(id, received);
      if (end) wait.settle(end);
    };
    // Before the job is added, so that no reply is missed.
    using subscription = isShared
      ? this.#connection.replies.receiveShared(this.#queue.name, id, receive)
      : this.#connection.replies.receiveOwn(id, receive);
    const addOnce = async () => {
      if (isShared && (await this.#hasJob(id, options))) return;
      const job = { id, request, deadlineMs: deadline - Date.now(), reply: subscription.channel };
      if (isPatient && owner !== undefined) await this.#producer.addUnattended({ ...job, owner });
      else await this.#producer.add({ ...job, owner });
    };
    const addForWhile = () =>
      retryFor(
        Math.min(this.#connection.failoverMs, waitMs),
        addOnce,
        (error) => !signal?.aborted && mayEndWithFailover(error),
      );
    const added = Promise.all([isShared && subscription.established, addForWhile()]);
    added.then(() => {
      isAdded = true;
      // Another client may have added the job, and it may have ended before the subscription.
      if (isShared) wait.poll();
    }, wait.fail);
    try {
      const end = await wait.end;
      if ('failure' in end) throw new Error(end.failure);
      return end.reply;
    } catch (error) {
      isOver = true;
      if (!isShared) added.finally(() => this.#queue.remove(id)).catch(() => {});
      if (signal?.aborted) throw signal.reason;
      throw new QueueUnavailable('job did not complete', { cause: error });
    }
  }

  // Whether the queue has the job, or an end of it to reuse. BullMQ ignores a job whose id it knows, and forgets old ends only when other jobs
  // end: so an end that is too old, or forged, is removed here.
  async #hasJob(jobId: string, { owner, isPatient = false }: RequestOptions): Promise<boolean> {
    this.#connection.redis.requireReady();
    const job = await this.#queue.getJob(jobId);
    if (job?.finishedOn) {
      const end = this.#open(jobId, endOf(job));
      // By the worker's clock: an end in the future is no newer than one as far in the past.
      const age = Math.abs(Date.now() - job.finishedOn);
      const isReused = end !== undefined && age < this.#reuse.seconds(end) * 1000;
      // Fails if another client has replaced the job, and a worker has locked it.
      if (!isReused) await job.remove().catch(() => {});
      return isReused;
    }
    if (job && !isPatient) await this.#producer.attend(job, owner);
    return job !== undefined;
  }

  // The second way to learn the end: a reply is lost if a connection was. Undefined if the queue does not have the job.
  async #poll(jobId: string, isShared: boolean): Promise<JobState<R>> {
    const job = await this.#queue.getJob(jobId);
    if (!job) return undefined;
    if (!job.finishedOn) return 'running';
    if (!isShared) this.#connection.replies.resubscribe();
    // No later end can follow the one in Redis.
    return this.#open(jobId, endOf(job)) ?? { failure: 'reply has an invalid seal' };
  }

  #open(jobId: string, end: WireEnd<R>): End<R> | undefined {
    return this.#connection.seals.open({ queue: this.#queue.name, jobId }, end);
  }
}

const reuseForMinute = { seconds: () => keptSeconds, maxSeconds: keptSeconds };

function endOf<R>({ failedReason, returnvalue }: Job<unknown, SealedReply<R>>): WireEnd<R> {
  return failedReason ? { failure: failedReason } : { answer: returnvalue?.answer, seal: returnvalue?.seal };
}
