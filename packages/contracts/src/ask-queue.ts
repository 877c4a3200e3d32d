import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, impatient } from '@echodrop/service/redis';
import { type Job, Queue, QueueEvents } from 'bullmq';
import {
  closingMs,
  connectPatiently,
  type JobData,
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

/** What waits in a queue: how many jobs, and for how many milliseconds the oldest of them has. */
export interface Backlog {
  readonly waiting: number;
  readonly oldestMs: number;
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
    const events = new QueueEvents(name, { connection: listening, prefix: queuePrefix });
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
  async ask(question: Q, { deadlineMs, waitMs = deadlineMs, signal, jobId }: Asking): Promise<A> {
    const id = jobId ?? randomUUID();
    const done = new AbortController();
    const over = AbortSignal.any([done.signal, AbortSignal.timeout(waitMs), ...(signal ? [signal] : [])]);
    // The listener stands before the job does, so that no end is missed.
    const heard = this.#heard(id, over);
    const added = this.#add(id, question, deadlineMs, jobId === undefined ? 'own' : 'shared');
    try {
      const firstLookMs = jobId === undefined ? lookMs : 0;
      const looked = added.then(() => this.#looked(id, firstLookMs, over));
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

  /**
   * Adds a job that is done after all that somebody waits for, unless it is there already.
   * @throws QueueUnavailable
   */
  async wish(question: Q, { deadlineMs, jobId }: Wish): Promise<void> {
    try {
      await this.#add(jobId, question, deadlineMs, 'wished');
    } catch (error) {
      throw new QueueUnavailable('the queue did not take it', { cause: error });
    }
  }

  /** A look at what waits now. @throws QueueUnavailable */
  async backlog(): Promise<Backlog> {
    try {
      this.#requireRedis();
      const [waiting, [oldest]] = await Promise.all([this.#queue.getWaitingCount(), this.#queue.getWaiting(0, 0)]);
      return { waiting, oldestMs: oldest ? Math.max(0, Date.now() - oldest.timestamp) : 0 };
    } catch (error) {
      throw new QueueUnavailable('the queue cannot be looked at', { cause: error });
    }
  }

  /** Resolves when Redis answers. */
  async ready(): Promise<void> {
    await this.#redis.ping();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }

  async #add(jobId: string, question: Q, deadlineMs: number, kind: 'own' | 'shared' | 'wished'): Promise<void> {
    this.#requireRedis();
    if (kind !== 'own') await this.#makeRoom(jobId, kind);
    const data: JobData<Q> = { version: 1, deadline: Date.now() + deadlineMs, question };
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

  #requireRedis(): void {
    if (this.#redis.status !== 'ready') throw new Error('redis is out of reach');
  }

  async #heard(jobId: string, over: AbortSignal): Promise<End<A>> {
    const [end] = await once(this.#ends, jobId, { signal: over });
    return end;
  }

  // The second way to learn the end: an event is lost when the stream was trimmed or the connection was away, and a job that
  // others asked for may have ended before we listened.
  async #looked(jobId: string, firstLookMs: number, over: AbortSignal): Promise<End<A>> {
    for (let pauseMs = firstLookMs; ; pauseMs = lookMs) {
      await sleep(pauseMs, undefined, { signal: over });
      const job = await this.#queue.getJob(jobId).catch(() => 'unknown' as const);
      if (job === undefined) return { failure: 'the job is gone' };
      if (job !== 'unknown' && job.finishedOn) return endOf(job);
    }
  }
}

const keptAsItIs = { seconds: () => keptSeconds, mostSeconds: keptSeconds };

function endOf<A>({ failedReason, returnvalue }: Job<unknown, A>): End<A> {
  return failedReason ? { failure: failedReason } : { answer: returnvalue };
}
