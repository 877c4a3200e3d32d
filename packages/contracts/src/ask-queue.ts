import { randomUUID } from 'node:crypto';
import { inSpan, traceparent } from '@echodrop/service/trace';
import { type Job, type JobsOptions, Queue } from 'bullmq';
import type { AskConnection } from './ask-connection.ts';
import { Batch } from './batch.ts';
import type { SealedAnswer } from './job-seals.ts';
import { JobWait, type Look } from './job-wait.ts';
import { isUnattended, OwnerTurns } from './owner-turns.ts';
import { closingMs, type JobData, jobVersion, queuePrefix, within } from './queue-connection.ts';
import { type End, sharedChannel, type WireEnd } from './replies.ts';

const keptSeconds = 60;
const mostKept = 10_000;
// Nobody waits for what is collected, and an exchange with Redis is a tenth of what an upload of 200 KB costs the gateway.
const collectMs = 20;

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

/** A job that is to be done at some time, and that nobody waits for now. */
interface Wish {
  readonly deadlineMs: number;
  readonly jobId: string;
  /** Owners take turns; all that is of no known owner shares one. */
  readonly owner?: string;
}

/** The one owner of all jobs whose owner is not known. */
export const unknownOwner = 'unknown';

/**
 * For how many seconds a job's end stands: whoever asks for the same job meanwhile gets that end, and whoever asks later
 * has it done anew. Redis keeps no more than the latest ten thousand ends.
 */
export type Standing<A> = (end: End<A>) => number;

/** What no worker of a queue has begun. */
export interface Backlog {
  /** How many jobs wait, also those that are only wished for. */
  readonly waiting: number;
  /** For how many milliseconds the oldest of them has; where owners take turns, the one that is next. */
  readonly oldestMs: number;
  /** How many are left to workers of another release. Now and then each waits again, until a worker of this release has looked at it. */
  readonly left: number;
}

/** What BullMQ takes, but for the priority. */
interface NewJob<Q> {
  readonly name: string;
  readonly data: JobData<Q>;
  readonly opts: JobsOptions;
}

/** The asking end of a queue. */
export class AskQueue<Q, A> implements AsyncDisposable {
  readonly #connection: AskConnection;
  readonly #queue: Queue<JobData<Q>, SealedAnswer<A>, string>;
  readonly #turns: OwnerTurns;
  readonly #wishes: Batch<{ readonly owner: string; readonly job: NewJob<Q> }>;
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
    this.#turns = new OwnerTurns(connection.redis, this.#queue);
    this.#wishes = new Batch(collectMs, async (wishes) => {
      this.#connection.requireReady();
      const owners = wishes.map(({ owner }) => owner);
      const priorities = await this.#turns.next(owners, 'unattended');
      await this.#queue.addBulk(
        wishes.map(({ job: { opts, ...job } }, n) => ({ ...job, opts: { ...opts, priority: priorities[n] } })),
      );
    });
  }

  /**
   * Asks `question` and waits for its answer.
   * @throws QueueUnavailable, or the signal's reason
   */
  ask(question: Q, asking: Asking): Promise<A> {
    return inSpan(`ask ${this.#queue.name}`, 'producer', this.#span, () => this.#ask(question, asking));
  }

  /**
   * Adds a job that nobody waits for, unless it is there already, or its end is still kept.
   * @throws QueueUnavailable
   */
  async wish(question: Q, { deadlineMs, jobId, owner = unknownOwner }: Wish): Promise<void> {
    const reply = sharedChannel(this.#queue.name, jobId);
    try {
      await inSpan(`wish ${this.#queue.name}`, 'producer', this.#span, () =>
        this.#wishes.add({ owner, job: this.#newJob(jobId, question, { deadlineMs, reply }) }),
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
    await within(closingMs, this.#wishes[Symbol.asyncDispose]());
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
    const add = async () => {
      const priority = await this.#priority(owner);
      const job = this.#newJob(id, question, { deadlineMs, reply: listening.channel });
      await this.#queue.add(job.name, job.data, { ...job.opts, priority });
    };
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

  async #priority(owner: string | undefined): Promise<number> {
    this.#connection.requireReady();
    if (owner === undefined) return 0;
    const [priority = 0] = await this.#turns.next([owner], 'awaited');
    return priority;
  }

  #newJob(jobId: string, question: Q, { deadlineMs, reply }: { deadlineMs: number; reply: string }): NewJob<Q> {
    const work = { version: jobVersion, deadline: Date.now() + deadlineMs, question } as const;
    const seal = this.#connection.seals.sealJob({ queue: this.#queue.name, jobId }, work);
    const kept = { age: this.#standing.mostSeconds, count: mostKept };
    return {
      name: this.#queue.name,
      data: { ...work, traceparent: traceparent(), reply, seal },
      opts: { jobId, removeOnComplete: kept, removeOnFail: kept },
    };
  }

  // Whether the queue has the job, or an end of it that stands. BullMQ ignores a job whose id it has, and forgets old ones only when others
  // end: one that ended too long ago is removed, and so is one whose answer is forged. A job that was unattended until now gets an earlier turn.
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
    if (job && !job.processedOn && isUnattended(job.priority)) {
      const priority = await this.#priority(owner);
      // It may have been begun meanwhile.
      await job.changePriority({ priority }).catch(() => {});
    }
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
