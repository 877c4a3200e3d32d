import { randomUUID } from 'node:crypto';
import type { SealedKind } from '@echodrop/service/forgeries';
import { createLog } from '@echodrop/service/log';
import { Secret } from '@echodrop/service/secret';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Redis } from 'ioredis';
import { ClientConnection } from './client-connection.ts';
import type { JobEnd } from './job-outcome.ts';
import { QueueClient } from './queue-client.ts';
import { type QueueOptions, queuePrefix } from './queue-connection.ts';
import { QueueWorker } from './queue-worker.ts';

/** What the queues of these tests are asked, and what they answer. */
export type Question = string;
export type Answer = string;

/** A connection whose end knows `secret`, or two between commas; `forged` collects what it finds forged. */
export function queueOptionsFor(url: string, secret = 'a secret of these queues') {
  const [inUse = '', other] = secret.split(',');
  const forged: SealedKind[] = [];
  return {
    url: new Secret(url),
    secret: other === undefined ? ([new Secret(inUse)] as const) : ([new Secret(inUse), new Secret(other)] as const),
    log: createLog('contracts', 'silent'),
    forgeries: { found: (kind) => void forged.push(kind) },
    forged,
  } satisfies QueueOptions & { forged: SealedKind[] };
}

export interface TestQueue extends AsyncDisposable {
  readonly name: string;
  /** What its ends found forged. */
  readonly forged: readonly SealedKind[];
  /** A new asking end, disposed of with the queue. */
  asker(): QueueClient<Question, Answer>;
  /** The same, and the connection that is its alone. */
  askerWithConnection(): { asker: QueueClient<Question, Answer>; connection: ClientConnection };
  /** A new answering end, disposed of with the queue; `ends` collects how its jobs ended. */
  worker(serving?: Partial<Serving>): { served: QueueWorker<Question, Answer>; ends: JobEnd[] };
}

interface Serving {
  readonly concurrency: number;
  readonly graceSeconds: number;
  readonly mostSeconds: number;
  readonly answer: (question: Question, signal: AbortSignal) => Promise<Answer>;
}

/** A queue of a test's own in the Redis at `url`. Unless told otherwise its workers answer in capitals, and all ends know the same secret. */
export function testQueue(url: string, name: string = randomUUID(), secret?: string): TestQueue {
  const parts = new AsyncDisposableStack();
  const both = queueOptionsFor(url, secret);
  const askerWithConnection = () => {
    const connection = parts.use(new ClientConnection(both));
    return { asker: parts.use(new QueueClient<Question, Answer>(name, connection)), connection };
  };
  return {
    name,
    forged: both.forged,
    asker: () => askerWithConnection().asker,
    askerWithConnection,
    worker(told = {}) {
      const ends: JobEnd[] = [];
      const usual = { concurrency: 1, graceSeconds: 0, answer: async (question: Question) => question.toUpperCase() };
      const serving = { name, ...usual, ...told, ended: (end: JobEnd) => ends.push(end) };
      return { served: parts.use(new QueueWorker<Question, Answer>(serving, both)), ends };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** A look into Redis past the wire: what lies in a queue's `wait` or `active` list, which keys of its there are. */
export class RedisView implements Disposable {
  readonly redis: Redis;

  constructor(url: string) {
    this.redis = new Redis(url);
    this.redis.on('error', () => {});
  }

  key(queue: string, what: string): string {
    return `${queuePrefix}:${queue}:${what}`;
  }

  jobs(queue: string, list: 'wait' | 'active'): Promise<string[]> {
    return this.redis.lrange(this.key(queue, list), 0, -1);
  }

  [Symbol.dispose](): void {
    this.redis.disconnect();
  }
}

/** Milliseconds until `promise` has settled, whichever way. */
export async function msUntilSettled(promise: Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await promise.catch(() => {});
  return performance.now() - begin;
}

/** An asking end of `queue` that is connected. */
export async function readyAsker(queue: TestQueue) {
  const asker = queue.asker();
  await waitUntil('a connection', 5000, () => asker.ready().then(() => true));
  return asker;
}
