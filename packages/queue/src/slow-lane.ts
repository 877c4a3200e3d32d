import type { RedisConnection } from '@echodrop/service/redis/redis';
import type { Job, Queue } from 'bullmq';
import type { JobSeals } from './job-seals.ts';
import { OwnerRoundRobin } from './owner-round-robin.ts';
import { type JobData, openQueue, waitAtMost } from './queue-connection.ts';

/** Thrown by the handler of a job, which decides what costs too much: the job moves to the slow lane. */
export class Deferred extends Error {
  override readonly name = 'Deferred';

  constructor() {
    super('deferred to the slow lane');
  }
}

export interface SlowLaneOptions<Q> {
  readonly name: string;
  readonly ownerOf: (request: Q) => string;
}

/** The queue of deferred jobs. Owners take turns in it. */
export class SlowLane<Q> implements AsyncDisposable {
  readonly #queue: Queue<JobData<Q>, unknown, string>;
  readonly #turns: OwnerRoundRobin;
  readonly #redis: RedisConnection;
  readonly #seals: JobSeals;
  readonly #ownerOf: SlowLaneOptions<Q>['ownerOf'];
  readonly #closeMs: number;

  constructor(
    { name, ownerOf }: SlowLaneOptions<Q>,
    { redis, seals, closeMs }: { redis: RedisConnection; seals: JobSeals; closeMs: number },
  ) {
    this.#redis = redis;
    this.#closeMs = closeMs;
    this.#seals = seals;
    this.#ownerOf = ownerOf;
    this.#queue = openQueue(name, redis);
    this.#turns = new OwnerRoundRobin(redis, this.#queue);
  }

  /** Whether it has a job of this id, waiting or running. */
  async has(jobId: string): Promise<boolean> {
    return (await this.#redis.exists(this.#queue.toKey(jobId))) === 1;
  }

  /** Adds a copy of `job` under the same id, without a reply channel. Its end is not kept, so that it may be added again. */
  async add({ id, data: { reply: _, seal: __, ...data } }: Job<JobData<Q>>): Promise<void> {
    const jobId = String(id);
    const [priority = 0] = await this.#turns.next([this.#ownerOf(data.question)], 'unattended');
    const seal = this.#seals.sealJob({ queue: this.#queue.name, jobId }, data);
    const kept = { removeOnComplete: true, removeOnFail: true };
    await this.#queue.add(this.#queue.name, { ...data, seal }, { jobId, priority, ...kept });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await waitAtMost(this.#closeMs, this.#queue.close());
  }
}
