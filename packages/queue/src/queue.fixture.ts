import { randomUUID } from 'node:crypto';
import { createLog } from '@echodrop/service/log';
import { redisAt } from '@echodrop/service/redis/redis-at.fixture';
import type { SealedKind } from '@echodrop/service/seals/forgeries';
import { Secret } from '@echodrop/service/secret';
import { patienceMs } from '@echodrop/testkit/patience';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Redis } from 'ioredis';
import { ClientConnection } from './client-connection.ts';
import type { JobEnd } from './job-outcome.ts';
import { isUnattended } from './owner-round-robin.ts';
import { QueueClient } from './queue-client.ts';
import { defaultLimits, type QueueLimits, type QueueOptions } from './queue-connection.ts';
import { QueueWorker } from './queue-worker.ts';

/** How the names of queues begin without REDIS_PREFIX. */
export const queuePrefix = '{echodrop}';

/** For a Redis that responds. */
export const patientLimits: QueueLimits = {
  ...defaultLimits,
  closeMs: patienceMs,
  redis: { commandTimeout: patienceMs, connectTimeout: patienceMs, socketTimeout: patienceMs },
};

/** `forged` collects the forgeries that were found. `limits` should be `defaultLimits` for a Redis that hangs, or is down at the end. */
export function queueOptionsFor(
  url: string,
  secret = 'a secret of these queues',
  limits = patientLimits,
  prefix?: string,
) {
  const forged: SealedKind[] = [];
  return {
    redis: redisAt(url, prefix),
    secret: [new Secret(secret)] as const,
    log: createLog('queue', 'silent'),
    forgeries: { report: (kind) => void forged.push(kind) },
    forged,
    limits,
  } satisfies QueueOptions & { forged: SealedKind[] };
}

export type TestQueue = ReturnType<typeof testQueue>;

interface Choices {
  readonly name?: string;
  readonly secret?: string;
  readonly limits?: QueueLimits;
  readonly prefix?: string;
}

interface WorkerOptions {
  readonly concurrency: number;
  readonly graceSeconds: number;
  readonly maxSeconds: number;
  readonly handle: (request: string, signal: AbortSignal) => Promise<string>;
}

/** A queue in the Redis at `url`. Disposing disposes of its clients and workers. */
export function testQueue(url: string, { name = randomUUID(), secret, limits, prefix }: Choices = {}) {
  const parts = new AsyncDisposableStack();
  const options = queueOptionsFor(url, secret, limits, prefix);
  /** A new client with its own connection. */
  const clientWithConnection = (changes: Partial<QueueLimits> = {}) => {
    const connection = parts.use(new ClientConnection({ ...options, limits: { ...options.limits, ...changes } }));
    return { client: parts.use(new QueueClient<string, string>(name, connection)), connection };
  };
  return {
    name,
    /** Forgeries that its clients and workers found. */
    forged: options.forged,
    client: (changes?: Partial<QueueLimits>) => clientWithConnection(changes).client,
    clientWithConnection,
    /** A new worker; it replies in capitals by default. `ends` collects the ends of its jobs, `ended` the requests that come with them. */
    worker(changes: Partial<WorkerOptions> = {}) {
      const ends: JobEnd[] = [];
      const ended: (string | undefined)[] = [];
      const defaults = { concurrency: 1, graceSeconds: 0, handle: async (request: string) => request.toUpperCase() };
      const onEnd = (end: JobEnd, request?: string) => {
        ends.push(end);
        ended.push(request);
      };
      return {
        worker: parts.use(new QueueWorker<string, string>({ name, ...defaults, ...changes, onEnd }, options)),
        ends,
        ended,
      };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** A connected client of `queue`. */
export async function readyClient(queue: Pick<TestQueue, 'client'>): Promise<QueueClient<string, string>> {
  const client = queue.client();
  await waitUntil('a connection', () => client.ready().then(() => true));
  return client;
}

/** Reads and writes a queue's keys in Redis. */
export class RedisView implements Disposable {
  readonly redis: Redis;

  constructor(url: string) {
    this.redis = new Redis(url);
    this.redis.on('error', () => {});
  }

  key(queue: string, what: string): string {
    return `${queuePrefix}:${queue}:${what}`;
  }

  /** How often a job was taken from a worker whose lock had expired. */
  async stalls(queue: string, jobId: string): Promise<number> {
    return Number(await this.redis.hget(this.key(queue, jobId), 'stc'));
  }

  /** The events of a queue so far, by job. */
  async events(queue: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const entries = await this.redis.xrange(this.key(queue, 'events'), '-', '+');
    const events = entries.map(([, fields]) => ({ event: fields[1] ?? '', jobId: fields[3] ?? '' }));
    return new Map(
      [...Map.groupBy(events, ({ jobId }) => jobId)].map(([id, of]) => [id, of.map(({ event }) => event)]),
    );
  }

  jobs(queue: string, list: 'wait' | 'active'): Promise<string[]> {
    return this.redis.lrange(this.key(queue, list), 0, -1);
  }

  /** Waits until jobs whose ids end with these words have the turns of jobs that clients wait for. */
  async untilAwaited(queue: string, ...words: readonly string[]): Promise<void> {
    await waitUntil(`${words} to be awaited`, async () => {
      const key = this.key(queue, 'prioritized');
      const ids = await this.redis.zrange(key, '0', '-1');
      const wanted = words.map((word) => ids.find((id) => id.endsWith(word)) ?? '');
      const scores = await this.redis.zmscore(key, ...wanted);
      return scores.every((score) => score !== null && !isUnattended(Math.floor(Number(score) / 2 ** 32)));
    });
  }

  [Symbol.dispose](): void {
    this.redis.disconnect();
  }
}

/** Milliseconds until `promise` settles. */
export async function msUntilSettled(promise: Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await promise.catch(() => {});
  return performance.now() - begin;
}
