import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, impatient } from '@echodrop/service/redis';
import { inSpan, traceparent } from '@echodrop/service/trace';
import { type Job, Queue, QueueEvents } from 'bullmq';
import {
  blockingSeconds,
  closingMs,
  connectPatiently,
  type JobData,
  jobVersion,
  type QueueConnection,
  queuePrefix,
  within,
} from './queue-connection.ts';

const keptSeconds = 60;
const mostKept = 10_000;
const lookMs = 2000;

/** The queue cannot be asked, or nobody answered in time, or the job failed. */
export class QueueUnavailable extends Error {
  override readonly name = 'QueueUnavailable';
}

interface Asking {
  /** How long the question is worth answering. */
  readonly deadlineMs: number;
  /** How long this asker waits; the job goes on without it. */
  readonly waitMs?: number;
  /** Aborted when the asker has gone. */
  readonly signal?: AbortSignal;
  /** Askers of the same id share one job and its answer; a job of one asker's own is taken back when nobody waits for it. */
  readonly jobId?: string;
}

/** A job that is to be done at some time, and that nobody waits for now. */
interface Wish {
  readonly deadlineMs: number;
  readonly jobId: string;
}

/** How a job ended: with an answer, or with the message of what it failed of. */
export type End<A> = { readonly answer: A } | { readonly failure: string };

/**
 * For how many seconds a job's end stands: whoever asks for the same job meanwhile gets that end, and whoever asks later
 * has it done anew. Redis keeps no more than the latest ten thousand ends.
 */
export type Standing<A> = (end: End<A>) => number;

/** What no worker of a queue has begun. */
export interface Backlog {
  /** How many jobs wait, also those that are only wished for. */
  readonly waiting: number;
  /** For how many milliseconds the oldest of them has. */
  readonly oldestMs: number;
  /** How many are left to workers of another release. Now and then each waits again, until a worker of this release has looked at it. */
  readonly left: number;
}

// Jobs that somebody waits for go before those that are only wished for.
const wished = 10;

/** The asking end of a queue: adds a job and waits for its answer. One listener serves all waiters. */
export class AskQueue<Q, A> implements AsyncDisposable {
  readonly #parts = new AsyncDisposableStack();
  readonly #redis: ReturnType<typeof connectRedis>;
  readonly #queue: Queue<JobData<Q>, A, string>;
  readonly #ends = new EventEmitter<Record<string, [End<A>]>>().setMaxListeners(0);
  readonly #standing: { readonly seconds: Standing<A>; readonly mostSeconds: number };

  /** An end stands as long as it is kept, a minute, unless `standing` says otherwise. */
  constructor(
    name: string,
    connection: QueueConnection,
    standing: { readonly seconds: Standing<A>; readonly mostSeconds: number } = keptAsItIs,
  ) {
    this.#standing = standing;
    this.#redis = this.#parts.use(connectRedis(connection.url, impatient, connection.log));
    const listening = this.#parts.use(connectPatiently(connection));
    // The check is made once, when Redis is first there; were it to fail, BullMQ would refuse every question from then on.
    this.#queue = new Queue(name, { connection: this.#redis, prefix: queuePrefix, skipVersionCheck: true });
    const events = new QueueEvents(name, {
      connection: listening,
      prefix: queuePrefix,
      blockingTimeout: blockingSeconds * 1000,
    });
    this.#parts.defer(() => within(closingMs, this.#queue.close()));
    this.#parts.defer(() => within(closingMs, events.close()));
    // The connections tell their own troubles.
    this.#queue.on('error', () => {});
    events.on('error', () => {});
    events.on('completed', ({ jobId, returnvalue }) => this.#ends.emit(jobId, { answer: returnvalue as A }));
    events.on('failed', ({ jobId, failedReason }) => this.#ends.emit(jobId, { failure: failedReason }));
  }

  /**
   * Asks `question` and waits for its answer.
   * @throws QueueUnavailable, or the signal's reason
   */
  ask(question: Q, asking: Asking): Promise<A> {
    return this.#inSpan('ask', () => this.#ask(question, asking));
  }

  /**
   * Adds a job that is done after all that somebody waits for, unless it is there already.
   * @throws QueueUnavailable
   */
  async wish(question: Q, { deadlineMs, jobId }: Wish): Promise<void> {
    try {
      await this.#inSpan('wish', () => this.#add(jobId, question, deadlineMs, 'wished'));
    } catch (error) {
      throw new QueueUnavailable('the queue did not take it', { cause: error });
    }
  }

  /** A look at what waits now. @throws QueueUnavailable */
  async backlog(): Promise<Backlog> {
    try {
      this.#requireRedis();
      // BullMQ keeps jobs with a priority apart; of each kind the first has waited longest, but for wishes that somebody asks for now: these go behind.
      const [counts, firsts] = await Promise.all([
        this.#queue.getJobCounts('waiting', 'prioritized', 'delayed'),
        this.#queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
      ]);
      const ages = firsts.map(({ timestamp }) => Date.now() - timestamp);
      const { waiting = 0, prioritized = 0, delayed = 0 } = counts;
      return { waiting: waiting + prioritized, oldestMs: Math.max(0, ...ages), left: delayed };
    } catch (error) {
      throw new QueueUnavailable('the queue cannot be looked at', { cause: error });
    }
  }

  /** Resolves when the Redis that has the queue answers. */
  async ready(): Promise<void> {
    await this.#redis.exists(queuePrefix);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }

  async #ask(question: Q, { deadlineMs, waitMs = deadlineMs, signal, jobId }: Asking): Promise<A> {
    const id = jobId ?? randomUUID();
    const done = new AbortController();
    const over = AbortSignal.any([done.signal, AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])]);
    // The listener stands before the job does, so that no end is missed.
    const heard = this.#heard(id, over);
    const added = this.#add(id, question, deadlineMs, jobId === undefined ? 'own' : 'shared');
    try {
      const firstLookMs = jobId === undefined ? lookMs : 0;
      const looksInVain = jobId === undefined ? 1 : 2;
      const looked = added.then(() => this.#looked(id, { firstLookMs, looksInVain }, over));
      const told = await Promise.race([heard, looked]);
      if ('failure' in told) throw new Error(told.failure);
      return told.answer;
    } catch (error) {
      if (jobId === undefined) added.finally(() => this.#queue.remove(id)).catch(() => {});
      if (signal?.aborted) throw signal.reason;
      throw new QueueUnavailable('the queue gave no answer', { cause: error });
    } finally {
      done.abort();
    }
  }

  async #add(jobId: string, question: Q, deadlineMs: number, kind: 'own' | 'shared' | 'wished'): Promise<void> {
    this.#requireRedis();
    if (kind !== 'own') await this.#makeRoom(jobId, kind);
    const data: JobData<Q> = {
      version: jobVersion,
      deadline: Date.now() + deadlineMs,
      traceparent: traceparent(),
      question,
    };
    const kept = { age: this.#standing.mostSeconds, count: mostKept };
    const priority = kind === 'wished' ? { priority: wished } : {};
    await this.#queue.add(this.#queue.name, data, { jobId, removeOnComplete: kept, removeOnFail: kept, ...priority });
  }

  // BullMQ ignores a job whose id it has, and forgets old ones only when others end: one that has ended too long ago is
  // taken away, and one that was only wished for goes to the front.
  async #makeRoom(jobId: string, kind: 'shared' | 'wished'): Promise<void> {
    const job = await this.#queue.getJob(jobId);
    if (job?.finishedOn) {
      const isOutlived = Date.now() - job.finishedOn >= this.#standing.seconds(endOf(job)) * 1000;
      // Another asker may have put a new one in its place meanwhile, which is locked.
      if (isOutlived) await job.remove().catch(() => {});
    } else if (kind === 'shared' && job?.priority) {
      // It may have been begun meanwhile.
      await job.changePriority({ priority: 0 }).catch(() => {});
    }
  }

  #inSpan<T>(act: 'ask' | 'wish', work: () => Promise<T>): Promise<T> {
    const { name } = this.#queue;
    return inSpan(
      `${act} ${name}`,
      'producer',
      { 'messaging.system': 'bullmq', 'messaging.destination.name': name },
      work,
    );
  }

  #requireRedis(): void {
    if (this.#redis.status !== 'ready') throw new Error('redis is out of reach');
  }

  async #heard(jobId: string, over: AbortSignal): Promise<End<A>> {
    const [end] = await once(this.#ends, jobId, { signal: over });
    return end;
  }

  // The second way to learn the end: an event is lost when the stream was trimmed or the connection was away, and a job that
  // others asked for may have ended before we listened. A shared job may be away for a moment, while another asker makes room
  // for its own of the same id.
  async #looked(
    jobId: string,
    { firstLookMs, looksInVain }: { readonly firstLookMs: number; readonly looksInVain: number },
    over: AbortSignal,
  ): Promise<End<A>> {
    let inVain = 0;
    for (let pauseMs = firstLookMs; ; pauseMs = lookMs) {
      await sleep(pauseMs, undefined, { signal: over });
      const job = await this.#queue.getJob(jobId).catch(() => 'unknown' as const);
      inVain = job === undefined ? inVain + 1 : 0;
      if (inVain === looksInVain) return { failure: 'the job is gone' };
      if (job !== undefined && job !== 'unknown' && job.finishedOn) return endOf(job);
    }
  }
}

const keptAsItIs = { seconds: () => keptSeconds, mostSeconds: keptSeconds };

function endOf<A>({ failedReason, returnvalue }: Job<unknown, A>): End<A> {
  return failedReason ? { failure: failedReason } : { answer: returnvalue };
}
