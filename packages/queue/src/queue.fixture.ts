import { randomUUID } from 'node:crypto';
import { createLog } from '@echodrop/service/log';
import type { SealedKind } from '@echodrop/service/seals/forgeries';
import { Secret } from '@echodrop/service/secret';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { Redis } from 'ioredis';
import { ClientConnection } from './client-connection.ts';
import type { JobEnd } from './job-outcome.ts';
import { QueueClient } from './queue-client.ts';
import { type QueueOptions, queuePrefix } from './queue-connection.ts';
import { QueueWorker } from './queue-worker.ts';

/** Options with `secret`, or two separated by a comma; `forged` collects the forgeries that were found. */
export function queueOptionsFor(url: string, secret = 'a secret of these queues') {
  const [inUse = '', other] = secret.split(',');
  const forged: SealedKind[] = [];
  return {
    url: new Secret(url),
    secret: other === undefined ? ([new Secret(inUse)] as const) : ([new Secret(inUse), new Secret(other)] as const),
    log: createLog('queue', 'silent'),
    forgeries: { report: (kind) => void forged.push(kind) },
    forged,
  } satisfies QueueOptions & { forged: SealedKind[] };
}

export interface TestQueue extends AsyncDisposable {
  readonly name: string;
  /** Forgeries that its clients and workers found. */
  readonly forged: readonly SealedKind[];
  /** A new client with its own connection. */
  client(): QueueClient<string, string>;
  clientWithConnection(): { client: QueueClient<string, string>; connection: ClientConnection };
  /** A new worker; it replies in capitals by default. `ends` collects the ends of its jobs. */
  worker(options?: Partial<WorkerOptions>): { worker: QueueWorker<string, string>; ends: JobEnd[] };
}

interface WorkerOptions {
  readonly concurrency: number;
  readonly graceSeconds: number;
  readonly maxSeconds: number;
  readonly handle: (request: string, signal: AbortSignal) => Promise<string>;
}

/** A queue in the Redis at `url`. Disposing disposes of its clients and workers. */
export function testQueue(url: string, name: string = randomUUID(), secret?: string): TestQueue {
  const parts = new AsyncDisposableStack();
  const options = queueOptionsFor(url, secret);
  const clientWithConnection = () => {
    const connection = parts.use(new ClientConnection(options));
    return { client: parts.use(new QueueClient<string, string>(name, connection)), connection };
  };
  return {
    name,
    forged: options.forged,
    client: () => clientWithConnection().client,
    clientWithConnection,
    worker(changes = {}) {
      const ends: JobEnd[] = [];
      const defaults = { concurrency: 1, graceSeconds: 0, handle: async (request: string) => request.toUpperCase() };
      const onEnd = (end: JobEnd) => ends.push(end);
      return {
        worker: parts.use(new QueueWorker<string, string>({ name, ...defaults, ...changes, onEnd }, options)),
        ends,
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

  jobs(queue: string, list: 'wait' | 'active'): Promise<string[]> {
    return this.redis.lrange(this.key(queue, list), 0, -1);
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
