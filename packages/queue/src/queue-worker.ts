import type { connectRedis } from '@echodrop/service/redis/redis';
import { continueTrace, inSpan } from '@echodrop/service/tracing/trace';
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { FrugalWorker } from './frugal-worker.ts';
import { forged, type JobEnd, jobEnd, late, outlived } from './job-outcome.ts';
import { JobRun, lockDuration } from './job-run.ts';
import { JobSeals, type SealedAnswer } from './job-seals.ts';
import {
  blockingSeconds,
  closingMs,
  connectWorkerRedis,
  type JobData,
  jobVersion,
  type QueueOptions,
  queuePrefix,
  within,
} from './queue-connection.ts';
import { encodeReply, type WireEnd } from './replies.ts';
import { Deferred, SlowerLane, type SlowerLaneOptions } from './slower-lane.ts';

// A job that kills two workers fails.
// What a lost connection cost is tried again at once: BullMQ would wait for 15 s, and a job's lock ends sooner.
const recovery = {
  lockDuration,
  skipLockRenewal: true,
  stalledInterval: 3000,
  maxStalledCount: 1,
  runRetryDelay: 500,
};

interface Serving<Q, A> {
  readonly name: string;
  readonly concurrency: number;
  readonly graceSeconds: number;
  /**
   * How long an answer may take once it is begun, however long its job had waited. Unless said, until the job's deadline;
   * if said, the deadline only keeps late jobs from being begun.
   */
  readonly mostSeconds?: number;
  /**
   * Answers a question. `signal` aborts when its time is up, when the worker stops, and when the job is no longer this
   * worker's; what is thrown otherwise, or when time is up, fails the job.
   */
  readonly answer: (question: Q, signal: AbortSignal) => Promise<A>;
  /** The first is where a job moves if `answer` throws Deferred; one that is in any of them is not begun here. */
  readonly slowerLanes?: readonly SlowerLaneOptions<Q>[];
  /** Gets the question too, where the job still has it and is not forged. */
  readonly ended: (end: JobEnd, question?: Q) => void;
}

// No job waits longer than that; renditions have the longest deadline.
const mostDeadlineMs = 8 * 24 * 60 * 60_000;

// For how long a job that is not this worker's to answer is left at most.
const leftMs = 30_000;

/**
 * The answering end of a queue. Disposing lets running jobs finish within the grace; those that do not are given back to
 * the queue, where they are the first in their turn, and nothing is held against them.
 */
export class QueueWorker<Q, A> implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #redis: ReturnType<typeof connectRedis>;
  readonly #seals: JobSeals;
  readonly #answer: Serving<Q, A>['answer'];
  readonly #mostMs: number | undefined;
  readonly #runs = new Set<JobRun<A>>();
  readonly #slowerLanes: readonly SlowerLane<Q>[];
  #stop: Error | undefined;
  readonly #log: QueueOptions['log'];

  constructor(
    { name, concurrency, graceSeconds, mostSeconds, answer, slowerLanes = [], ended }: Serving<Q, A>,
    connection: QueueOptions,
  ) {
    this.#seals = new JobSeals(connection);
    this.#answer = answer;
    this.#log = connection.log;
    this.#mostMs = mostSeconds && mostSeconds * 1000;
    this.#redis = this.#parts.use(connectWorkerRedis(connection));
    const lane = { redis: this.#redis, seals: this.#seals };
    this.#slowerLanes = slowerLanes.map((slower) => this.#parts.use(new SlowerLane<Q>(slower, lane)));
    const process = (job: ServedJob<Q, A>, token = '') => this.#inTrace(job, token);
    const worker = new FrugalWorker<JobData<Q>, SealedAnswer<A>>(name, process, {
      connection: this.#redis,
      prefix: queuePrefix,
      concurrency,
      drainDelay: blockingSeconds,
      ...recovery,
    });
    this.#parts.defer(async () => {
      // Where Redis is away nothing can be finished, nor given back: what runs loses its lock, and so goes back to the queue.
      const [finishingMs, givingBackMs] = this.#redis.status === 'ready' ? [graceSeconds * 1000, closingMs] : [0, 0];
      const closed = worker.close();
      await within(finishingMs, closed);
      this.#stop = new Error('the worker stops');
      for (const run of this.#runs) run.takeAway(this.#stop);
      await within(givingBackMs, closed);
    });
    worker.on('error', (error) =>
      connection.log.debug({ reason: error.message, queue: name }, 'Queue worker lost its Redis connection'),
    );
    worker.on('completed', (job, answer) => {
      this.#reply(job, answer);
      continueTrace(job.data.traceparent, () => ended(jobEnd(name, job), job.data.question));
    });
    worker.on('failed', (job, error) => {
      this.#reply(job, { failure: error.message });
      const end = jobEnd(name, job, error);
      const question = end.outcome === 'forged' ? undefined : job?.data.question;
      continueTrace(job?.data.traceparent, () => ended(end, question));
    });
  }

  /** Resolves when the Redis that has the queue answers. */
  async ready(): Promise<void> {
    await this.#redis.exists(queuePrefix);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }

  #inTrace(job: ServedJob<Q, A>, token: string): Promise<SealedAnswer<A>> {
    const facts = { 'messaging.system': 'bullmq', 'messaging.destination.name': job.queueName } as const;
    return continueTrace(job.data.traceparent, () =>
      inSpan(`process ${job.queueName}`, 'consumer', facts, () => this.#process(job, token)),
    );
  }

  // What another release asks is for its own workers: this one looks away for a while, a second for a probe, and again until the job is late.
  async #leave(job: ServedJob<Q, A>, token: string, remaining: number): Promise<never> {
    const facts = { queue: job.queueName, jobId: job.id, version: job.data.version };
    this.#log.warn(facts, 'Delaying job: payload version not supported by this worker');
    await job.moveToDelayed(Date.now() + Math.min(remaining / 20, leftMs), token);
    throw new DelayedError();
  }

  async #process(job: ServedJob<Q, A>, token: string): Promise<SealedAnswer<A>> {
    const place = { queue: job.queueName, jobId: String(job.id) };
    const { version, deadline } = job.data;
    // Unsealed garbage must not stay for ever.
    const remaining = deadline - Date.now();
    const isOfAnother = Number.isInteger(version) && version !== jobVersion && remaining < mostDeadlineMs;
    if (!isOfAnother && !this.#seals.hasAdded(place, job.data)) throw new UnrecoverableError(forged);
    if (!(remaining > 0)) throw new UnrecoverableError(late);
    if (isOfAnother) return this.#leave(job, token, remaining);
    if (await this.#isInSlowerLane(String(job.id))) throw new Deferred();
    const run = new JobRun<A>(job, token, this.#mostMs ?? remaining);
    this.#runs.add(run);
    if (this.#stop) run.takeAway(this.#stop);
    try {
      return this.#seals.sealAnswer(place, await run.result((signal) => this.#answer(job.data.question, signal)));
    } catch (error) {
      if (run.isTakenAway) return giveBack(job, token, { isLost: this.#stop === undefined });
      if (error instanceof Deferred) await this.#slowerLanes[0]?.add(job);
      throw error;
    } finally {
      this.#runs.delete(run);
    }
  }

  async #isInSlowerLane(jobId: string): Promise<boolean> {
    const found = await Promise.all(this.#slowerLanes.map((lane) => lane.has(jobId)));
    return found.includes(true);
  }

  // After the end is in Redis, so that who looks at the job learns the same. What is lost is found by looking.
  #reply(job: ServedJob<Q, A> | undefined, end: WireEnd<A>): void {
    if (job?.data.reply === undefined) return;
    this.#redis.spublish(job.data.reply, encodeReply(String(job.id), end)).catch(() => {});
  }
}

type ServedJob<Q, A> = Job<JobData<Q>, SealedAnswer<A>>;

// BullMQ counts neither a stall nor a failure. It refuses where the lock is another's: then there is nothing to give back.
async function giveBack(job: Job, token: string, { isLost }: { isLost: boolean }): Promise<never> {
  // Redis was away, or the machine suspended: the job has not killed this worker.
  if (isLost) await job.updateProgress(outlived).catch(() => {});
  await job.moveToWait(token).catch(() => {});
  throw new WaitingError();
}
