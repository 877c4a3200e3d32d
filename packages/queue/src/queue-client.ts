import { randomUUID } from 'node:crypto';
import { inSpan } from '@echodrop/service/tracing/trace';
import { type Job, Queue } from 'bullmq';
import type { Backlog } from './backlog.ts';
import type { ClientConnection } from './client-connection.ts';
import { JobProducer } from './job-producer.ts';
import type { SealedAnswer } from './job-seals.ts';
import { JobWait, type Look } from './job-wait.ts';
import { closingMs, type JobData, queuePrefix, within } from './queue-connection.ts';
import { type End, sharedChannel, type WireEnd } from './replies.ts';

const keptSeconds = 60;

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
  /** Owners take turns; a job without one goes before all that have one. */
  readonly owner?: string;
}

/** A job that nobody waits for. */
interface Enqueuing {
  readonly deadlineMs: number;
  readonly jobId: string;
  /** Owners take turns. */
  readonly owner: string;
}

/**
 * For how many seconds a job's end stands: whoever asks for the same job meanwhile gets that end, and whoever asks later
 * has it done anew. Redis keeps no more than the latest ten thousand ends.
 */
export type Standing<A> = (end: End<A>) => number;

/** The asking end of a queue. */
export class QueueClient<Q, A> implements AsyncDisposable {
  readonly #connection: ClientConnection;
  readonly #queue: Queue<JobData<Q>, SealedAnswer<A>, string>;
  readonly #producer: JobProducer<Q, SealedAnswer<A>>;
  readonly #standing: { readonly seconds: Standing<A>; readonly mostSeconds: number };
  readonly #span: { readonly 'messaging.system': 'bullmq'; readonly 'messaging.destination.name': string };

  /** An end stands as long as it is kept, a minute, unless `standing` says otherwise. The connection is the caller's to dispose of. */
  constructor(
    name: string,
    connection: ClientConnection,
    standing: { readonly seconds: Standing<A>; readonly mostSeconds: number } = keptAsItIs,
  ) {
    this.#connection = connection;
    this.#standing = standing;
    this.#span = { 'messaging.system': 'bullmq', 'messaging.destination.name': name };
    // The check is made once, when Redis is first there; were it to fail, BullMQ would refuse every question from then on.
    this.#queue = new Queue(name, { connection: connection.redis, prefix: queuePrefix, skipVersionCheck: true });
    // The connection tells its own troubles.
    this.#queue.on('error', () => {});
    this.#producer = new JobProducer(connection, this.#queue, standing.mostSeconds);
  }

  /**
   * Asks `question` and waits for its answer.
   * @throws QueueUnavailable, or the signal's reason
   */
  ask(question: Q, asking: Asking): Promise<A> {
    return inSpan(`ask ${this.#queue.name}`, 'producer', this.#span, () => this.#ask(question, asking));
  }

  /**
   * Enqueues a job that nobody waits for, unless the queue has it already, or still keeps its end.
   * @throws QueueUnavailable
   */
  async enqueue(question: Q, { jobId: id, ...enqueuing }: Enqueuing): Promise<void> {
    const reply = sharedChannel(this.#queue.name, id);
    try {
      await inSpan(`enqueue ${this.#queue.name}`, 'producer', this.#span, () =>
        this.#producer.addUnattended({ id, question, reply, ...enqueuing }),
      );
    } catch (error) {
      throw new QueueUnavailable('the queue did not take it', { cause: error });
    }
  }

  /** A look at what waits now. @throws QueueUnavailable */
  async backlog(): Promise<Backlog> {
    try {
      this.#connection.requireReady();
      // BullMQ keeps jobs with a priority apart. Of those without, the first has waited longest; of those with, it is the one whose turn is next.
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
    await within(closingMs, this.#producer[Symbol.asyncDispose]());
    await within(closingMs, this.#queue.close());
  }

  async #ask(question: Q, { deadlineMs, waitMs = deadlineMs, signal, jobId, owner }: Asking): Promise<A> {
    signal?.throwIfAborted();
    const isOwn = jobId === undefined;
    const id = jobId ?? randomUUID();
    let isAdded = false;
    const look = async () => (isAdded ? this.#look(id, isOwn) : undefined);
    // A shared job may be away for a moment, while another asker makes room for its own of the same id.
    using wait = new JobWait<A>({ waitMs, signal, look, mostGone: isOwn ? 1 : 2 });
    // A forged answer is ignored: the worker's own may still come. A failure has no seal, so the job itself is looked at.
    const hear = (told: WireEnd<A>) => {
      if ('failure' in told) return wait.look();
      const end = this.#open(id, told);
      if (end) wait.tell(end);
    };
    // The listener stands before the job does, so that no end is missed.
    using listening = isOwn
      ? this.#connection.replies.own(id, hear)
      : this.#connection.replies.shared(sharedChannel(this.#queue.name, id), hear);
    const add = () => this.#producer.add({ id, question, deadlineMs, reply: listening.channel, owner });
    const shared = async () => {
      if (!(await this.#hasJob(id, owner))) await add();
    };
    const added = isOwn ? add() : Promise.all([listening.established, shared()]);
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

  // Whether the queue has the job, or an end of it that stands. BullMQ ignores a job whose id it has, and forgets old ones only when others
  // end. So this removes a job that ended too long ago, or whose answer is forged.
  async #hasJob(jobId: string, owner: string | undefined): Promise<boolean> {
    this.#connection.requireReady();
    const job = await this.#queue.getJob(jobId);
    if (job?.finishedOn) {
      const end = this.#open(jobId, endOf(job));
      const stands = end !== undefined && Date.now() - job.finishedOn < this.#standing.seconds(end) * 1000;
      // Another asker may have put a new one in its place meanwhile, which is locked.
      if (!stands) await job.remove().catch(() => {});
      return stands;
    }
    if (job) await this.#producer.attend(job, owner);
    return job !== undefined;
  }

  // The second way to learn the end: a reply is lost where a connection was away.
  async #look(jobId: string, isOwn: boolean): Promise<Look<A>> {
    const job = await this.#queue.getJob(jobId);
    if (!job) return 'gone';
    if (!job.finishedOn) return 'running';
    if (isOwn) this.#connection.replies.renew();
    // The end in Redis is the last that is written.
    return this.#open(jobId, endOf(job)) ?? { failure: 'the answer has a wrong seal' };
  }

  #open(jobId: string, end: WireEnd<A>): End<A> | undefined {
    return this.#connection.seals.open({ queue: this.#queue.name, jobId }, end);
  }
}

const keptAsItIs = { seconds: () => keptSeconds, mostSeconds: keptSeconds };

function endOf<A>({ failedReason, returnvalue }: Job<unknown, SealedAnswer<A>>): WireEnd<A> {
  return failedReason ? { failure: failedReason } : { answer: returnvalue?.answer, seal: returnvalue?.seal };
}
