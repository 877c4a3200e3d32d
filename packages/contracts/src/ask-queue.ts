import { randomUUID } from 'node:crypto';
import { inSpan, traceparent } from '@echodrop/service/trace';
import { type Job, Queue } from 'bullmq';
import type { AskConnection } from './ask-connection.ts';
import { JobWait, type Look } from './job-wait.ts';
import { closingMs, type JobData, jobVersion, queuePrefix, within } from './queue-connection.ts';
import { type End, sharedChannel } from './replies.ts';

const keptSeconds = 60;
const mostKept = 10_000;

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

/** The asking end of a queue. */
export class AskQueue<Q, A> implements AsyncDisposable {
  readonly #connection: AskConnection;
  readonly #queue: Queue<JobData<Q>, A, string>;
  readonly #standing: { readonly seconds: Standing<A>; readonly mostSeconds: number };
  readonly #span: { readonly 'messaging.system': 'bullmq'; readonly 'messaging.destination.name': string };

  /** An end stands as long as it is kept, a minute, unless `standing` says otherwise. The connection is the caller's to dispose of. */
  constructor(
    name: string,
    connection: AskConnection,
    standing: { readonly seconds: Standing<A>; readonly mostSeconds: number } = keptAsItIs,
  ) {
    this.#connection = connection;
    this.#standing = standing;
    this.#span = { 'messaging.system': 'bullmq', 'messaging.destination.name': name };
    // The check is made once, when Redis is first there; were it to fail, BullMQ would refuse every question from then on.
    this.#queue = new Queue(name, { connection: connection.redis, prefix: queuePrefix, skipVersionCheck: true });
    // The connection tells its own troubles.
    this.#queue.on('error', () => {});
  }

  /**
   * Asks `question` and waits for its answer.
   * @throws QueueUnavailable, or the signal's reason
   */
  ask(question: Q, asking: Asking): Promise<A> {
    return inSpan(`ask ${this.#queue.name}`, 'producer', this.#span, () => this.#ask(question, asking));
  }

  /**
   * Adds a job that is done after all that somebody waits for, unless it is there already, or its end is still kept.
   * @throws QueueUnavailable
   */
  async wish(question: Q, { deadlineMs, jobId }: Wish): Promise<void> {
    try {
      await inSpan(`wish ${this.#queue.name}`, 'producer', this.#span, () =>
        this.#add(jobId, question, deadlineMs, sharedChannel(this.#queue.name, jobId), wished),
      );
    } catch (error) {
      throw new QueueUnavailable('the queue did not take it', { cause: error });
    }
  }

  /** A look at what waits now. @throws QueueUnavailable */
  async backlog(): Promise<Backlog> {
    try {
      this.#connection.requireReady();
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
    await this.#connection.redis.exists(queuePrefix);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await within(closingMs, this.#queue.close());
  }

  async #ask(question: Q, { deadlineMs, waitMs = deadlineMs, signal, jobId }: Asking): Promise<A> {
    signal?.throwIfAborted();
    const isOwn = jobId === undefined;
    const id = jobId ?? randomUUID();
    let isAdded = false;
    const look = async () => (isAdded ? this.#look(id, isOwn) : undefined);
    // A shared job may be away for a moment, while another asker makes room for its own of the same id.
    using wait = new JobWait<A>({ waitMs, signal, look, mostGone: isOwn ? 1 : 2 });
    // The listener stands before the job does, so that no end is missed.
    using listening = isOwn
      ? this.#connection.replies.own(id, wait.tell)
      : this.#connection.replies.shared(sharedChannel(this.#queue.name, id), wait.tell);
    const add = () => this.#add(id, question, deadlineMs, listening.channel);
    const added = isOwn ? add() : Promise.all([listening.established, this.#makeRoom(id).then(add)]);
    added.then(() => {
      isAdded = true;
      // Others may have asked for it, and it may have ended before we listened.
      if (!isOwn) wait.look();
    }, wait.fail);
    try {
      const end = await wait.end;
      if ('failure' in end) throw new Error(end.failure);
      return end.answer;
    } catch (error) {
      if (isOwn) added.finally(() => this.#queue.remove(id)).catch(() => {});
      if (signal?.aborted) throw signal.reason;
      throw new QueueUnavailable('the queue gave no answer', { cause: error });
    }
  }

  async #add(jobId: string, question: Q, deadlineMs: number, reply: string, priority?: number): Promise<void> {
    this.#connection.requireReady();
    const data: JobData<Q> = {
      version: jobVersion,
      deadline: Date.now() + deadlineMs,
      traceparent: traceparent(),
      reply,
      question,
    };
    const kept = { age: this.#standing.mostSeconds, count: mostKept };
    await this.#queue.add(this.#queue.name, data, {
      jobId,
      removeOnComplete: kept,
      removeOnFail: kept,
      ...(priority && { priority }),
    });
  }

  // BullMQ ignores a job whose id it has, and forgets old ones only when others end: one that has ended too long ago is
  // taken away, and one that was only wished for goes to the front.
  async #makeRoom(jobId: string): Promise<void> {
    this.#connection.requireReady();
    const job = await this.#queue.getJob(jobId);
    if (job?.finishedOn) {
      const isOutlived = Date.now() - job.finishedOn >= this.#standing.seconds(endOf(job)) * 1000;
      // Another asker may have put a new one in its place meanwhile, which is locked.
      if (isOutlived) await job.remove().catch(() => {});
    } else if (job?.priority) {
      // It may have been begun meanwhile.
      await job.changePriority({ priority: 0 }).catch(() => {});
    }
  }

  // The second way to learn the end: a reply is lost where a connection was away, and workers of earlier releases send none.
  async #look(jobId: string, isOwn: boolean): Promise<Look<A>> {
    const job = await this.#queue.getJob(jobId);
    if (!job) return 'gone';
    if (!job.finishedOn) return 'running';
    if (isOwn) this.#connection.replies.renew();
    return endOf(job);
  }
}

const keptAsItIs = { seconds: () => keptSeconds, mostSeconds: keptSeconds };

function endOf<A>({ failedReason, returnvalue }: Job<unknown, A>): End<A> {
  return failedReason ? { failure: failedReason } : { answer: returnvalue };
}
