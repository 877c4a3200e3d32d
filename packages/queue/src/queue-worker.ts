import type { RedisConnection } from '@echodrop/service/redis/redis';
import { continueTrace, inSpan } from '@echodrop/service/tracing/trace';
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { BullmqWorker } from './bullmq-worker.ts';
import { forgedMessage, type JobEnd, jobEnd, lateMessage } from './job-outcome.ts';
import { JobRun, lockDuration } from './job-run.ts';
import { JobSeals, type SealedReply } from './job-seals.ts';
import {
  blockingSeconds,
  connectWorkerRedis,
  defaultLimits,
  type JobData,
  jobVersion,
  type QueueOptions,
  requireQueues,
  waitAtMost,
} from './queue-connection.ts';
import { encodeReply, type WireEnd } from './replies.ts';
import { Deferred, SlowLane, type SlowLaneOptions } from './slow-lane.ts';

const recovery = {
  lockDuration,
  skipLockRenewal: true,
  stalledInterval: 3000,
  // A job that kills two workers fails.
  maxStalledCount: 1,
  // The pause after a lost connection. BullMQ's default of 15 s exceeds a job's lock.
  runRetryDelay: 500,
};

interface WorkerOptions<Q, R> {
  readonly name: string;
  readonly concurrency: number;
  readonly graceSeconds: number;
  /** How long handling may take. Without it, handling ends at the job's deadline; with it, the deadline only keeps late jobs from being begun. */
  readonly maxSeconds?: number;
  /** An error fails the job. `signal` aborts at the time limit, and if the worker stops or lost the job, which then does not fail. */
  readonly handle: (request: Q, signal: AbortSignal, onProgress: (share: number) => void) => Promise<R>;
  /** A job moves there if `handle` throws Deferred; a job that is there is not begun here. */
  readonly slowLane?: SlowLaneOptions<Q>;
  /** `request` is missing if the job no longer exists, is forged or has another version. */
  readonly onEnd: (end: JobEnd, request?: Q) => void;
}

// No job has a longer deadline. The deadline of renditions is the longest.
const maxDeadlineMs = 8 * 24 * 60 * 60_000;

// The longest delay of a job of another version.
const maxDelayMs = 30_000;

/** Takes jobs from a queue and sends replies. Disposing lets jobs finish within the grace; others return to the front of the queue. */
export class QueueWorker<Q, R> implements AsyncDisposable {
  readonly #resources = new AsyncDisposableStack();
  readonly #redis: RedisConnection;
  readonly #seals: JobSeals;
  readonly #options: WorkerOptions<Q, R>;
  readonly #runs = new Set<JobRun<R>>();
  readonly #slowLane: SlowLane<Q> | undefined;
  readonly #log: QueueOptions['log'];
  #stop: Error | undefined;

  constructor(options: WorkerOptions<Q, R>, connection: QueueOptions) {
    const { name, concurrency, graceSeconds, slowLane, onEnd } = options;
    const { closeMs } = connection.limits ?? defaultLimits;
    this.#options = options;
    this.#seals = new JobSeals(connection);
    this.#log = connection.log;
    this.#redis = this.#resources.use(connectWorkerRedis(connection));
    const deps = { redis: this.#redis, seals: this.#seals, closeMs };
    this.#slowLane = slowLane && this.#resources.use(new SlowLane<Q>(slowLane, deps));
    const process = (job: WorkerJob<Q, R>, token = '') => this.#processInTrace(job, token);
    const worker = new BullmqWorker<JobData<Q>, SealedReply<R>>(name, process, {
      connection: this.#redis,
      prefix: this.#redis.names.queues,
      // BullMQ's check of the version also prints a warning about eviction, on each connection.
      skipVersionCheck: true,
      concurrency,
      drainDelay: blockingSeconds,
      ...recovery,
    });
    this.#resources.defer(async () => {
      // Without Redis no job can be finished or returned: running jobs lose their locks, and so return to the queue.
      const [finishMs, returnMs] = this.#redis.status === 'ready' ? [graceSeconds * 1000, closeMs] : [0, 0];
      const closed = worker.close();
      await waitAtMost(finishMs, closed);
      this.#stop = new Error('worker is stopping');
      for (const run of this.#runs) run.release(this.#stop);
      await waitAtMost(returnMs, closed);
    });
    worker.on('error', (error) =>
      connection.log.debug({ reason: error.message, queue: name }, 'Queue worker lost its Redis connection'),
    );
    worker.on('completed', (job, reply) => {
      this.#publish(job, reply);
      continueTrace(job.data.traceparent, () => onEnd(jobEnd(name, job), job.data.question));
    });
    worker.on('failed', (job, error) => {
      this.#publish(job, { failure: error.message });
      const end = jobEnd(name, job, this.#isForged(job, error) ? new UnrecoverableError(forgedMessage) : error);
      const hasRequest = end.outcome !== 'forged' && job?.data.version === jobVersion;
      continueTrace(job?.data.traceparent, () => onEnd(end, hasRequest ? job.data.question : undefined));
    });
  }

  /** Resolves if Redis responds. @throws Error that says why not */
  ready(): Promise<void> {
    return requireQueues(this.#redis);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  /** BullMQ fails a job whose field in Redis says that its workers died, without `#process`. */
  #isForged(job: WorkerJob<Q, R> | undefined, { message }: Error): boolean {
    if (job === undefined || message === forgedMessage) return message === forgedMessage;
    return job.data.version === jobVersion && !this.#seals.isAuthentic(placeOf(job), job.data);
  }

  #processInTrace(job: WorkerJob<Q, R>, token: string): Promise<SealedReply<R>> {
    const attributes = { 'messaging.system': 'bullmq', 'messaging.destination.name': job.queueName } as const;
    return continueTrace(job.data.traceparent, () =>
      inSpan(`process ${job.queueName}`, 'consumer', attributes, () => this.#process(job, token)),
    );
  }

  async #process(job: WorkerJob<Q, R>, token: string): Promise<SealedReply<R>> {
    const place = placeOf(job);
    const { version, deadline, question: request } = job.data;
    const remainingMs = deadline - Date.now();
    // Its seal cannot be checked, so its deadline must be near.
    const isOtherVersion = Number.isInteger(version) && version !== jobVersion && remainingMs < maxDeadlineMs;
    if (!isOtherVersion && !this.#seals.isAuthentic(place, job.data)) throw new UnrecoverableError(forgedMessage);
    if (!(remainingMs > 0)) throw new UnrecoverableError(lateMessage);
    if (isOtherVersion) return this.#delay(job, token, remainingMs);
    if (await this.#slowLane?.has(place.jobId)) throw new Deferred();
    const { handle, maxSeconds } = this.#options;
    const run = new JobRun<R>(job, token, maxSeconds ? maxSeconds * 1000 : remainingMs);
    this.#runs.add(run);
    if (this.#stop) run.release(this.#stop);
    try {
      return this.#seals.sealReply(
        place,
        await run.result((signal) =>
          handle(request, signal, (share) => void job.updateProgress(share).catch(() => {})),
        ),
      );
    } catch (error) {
      if (run.isReleased) return returnJob(job, token);
      if (error instanceof Deferred) await this.#slowLane?.add(job);
      throw error;
    } finally {
      this.#runs.delete(run);
    }
  }

  // Workers of its own release handle the job. A probe is delayed for about a second, again and again until it is late.
  async #delay(job: WorkerJob<Q, R>, token: string, remainingMs: number): Promise<never> {
    const fields = { queue: job.queueName, jobId: job.id, version: job.data.version };
    this.#log.warn(fields, 'Job returned to its queue: only workers of another release can run it');
    await job.moveToDelayed(Date.now() + Math.min(remainingMs / 20, maxDelayMs), token);
    throw new DelayedError();
  }

  // After the end is in Redis, so that polling finds the same. Clients find a lost reply by polling.
  #publish(job: WorkerJob<Q, R> | undefined, end: WireEnd<R>): void {
    if (job?.data.reply === undefined) return;
    this.#redis.spublish(job.data.reply, encodeReply(String(job.id), end)).catch(() => {});
  }
}

type WorkerJob<Q, R> = Job<JobData<Q>, SealedReply<R>>;

function placeOf({ queueName, id }: Job) {
  return { queue: queueName, jobId: String(id) };
}

// Fails if another worker has the lock: then there is nothing to return.
async function returnJob(job: Job, token: string): Promise<never> {
  await job.moveToWait(token).catch(() => {});
  throw new WaitingError();
}
