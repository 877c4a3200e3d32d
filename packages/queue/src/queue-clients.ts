import type { Metrics } from '@echodrop/service/metrics/metrics';
import { LRUCache } from 'lru-cache';
import { ClientConnection } from './client-connection.ts';
import { type Backlog, QueueClient } from './queue-client.ts';
import { type QueueOptions, requireQueues } from './queue-connection.ts';
import type { EndReuse } from './replies.ts';

const freshMs = 1000;

/** Clients of several queues on one connection, by the names of the queues. */
export class QueueClients<N extends string, Q, R> implements AsyncDisposable {
  protected readonly clients: Readonly<Record<N, QueueClient<Q, R>>>;
  readonly #connection: ClientConnection;
  readonly #resources = new AsyncDisposableStack();
  readonly #backlogs: LRUCache<N, Backlog | 'unknown'>;

  constructor(names: readonly N[], options: QueueOptions, reuse?: EndReuse<R>) {
    this.#connection = this.#resources.use(new ClientConnection(options));
    const open = (name: N) => [name, this.#resources.use(new QueueClient<Q, R>(name, this.#connection, reuse))];
    this.clients = Object.fromEntries(names.map(open));
    this.#backlogs = new LRUCache({
      max: names.length,
      ttl: freshMs,
      fetchMethod: (name) => this.clients[name].backlog().catch(() => 'unknown' as const),
    });
  }

  /** The backlogs that can be read, by the names of the queues. */
  async backlogs(): Promise<ReadonlyMap<string, Backlog>> {
    const names = Object.keys(this.clients) as N[];
    const backlogs = await Promise.all(names.map(async (name) => [name, await this.backlogOf(name)] as const));
    return new Map(backlogs.flatMap(([name, backlog]) => (backlog ? [[name, backlog]] : [])));
  }

  /** Resolves if Redis responds. @throws Error that says why not */
  ready(): Promise<void> {
    return requireQueues(this.#connection.redis);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  /** A backlog, at most a second old, which concurrent callers share; undefined if it cannot be read. */
  protected async backlogOf(name: N): Promise<Backlog | undefined> {
    const backlog = await this.#backlogs.fetch(name);
    return backlog === 'unknown' ? undefined : backlog;
  }
}

/** Reports the backlogs of the queues of `clients`. Every process reports the same: join them with `max by (queue)`. */
export function registerBacklogMetrics(
  metrics: Metrics,
  clients: readonly { backlogs(): Promise<ReadonlyMap<string, Backlog>> }[],
): void {
  const helps = {
    echodrop_queue_waiting_jobs:
      'Jobs waiting for a worker, by queue. The response to an upload waits for its job in probe-photos or probe-films (videos), ' +
      'but not for rendition jobs. Rendition jobs start in rendition-pictures or rendition-films (videos); expensive jobs move to rendition-slow.',
    echodrop_queue_oldest_job_age_seconds:
      'Age of the waiting job that runs next; 0 if none waits. In probe queues, this is the oldest job. Rendition queues serve users in turn, ' +
      'so other jobs of busy users may be older.',
    echodrop_queue_unsupported_jobs: 'Jobs that no running worker can run, because another release wrote them.',
  };
  metrics.gaugesOnScrape(helps, 'queue', async () => {
    const backlogs = await Promise.all(clients.map((client) => client.backlogs()));
    return backlogs
      .flatMap((each) => [...each])
      .map(([label, { waiting, oldestMs, unsupported }]) => ({
        label,
        values: {
          echodrop_queue_waiting_jobs: waiting,
          echodrop_queue_oldest_job_age_seconds: oldestMs / 1000,
          echodrop_queue_unsupported_jobs: unsupported,
        },
      }));
  });
}
