import { LRUCache } from 'lru-cache';

const freshMs = 1000;

/** The jobs of a queue that no worker has begun. */
export interface Backlog {
  /** Waiting jobs. */
  readonly waiting: number;
  /** Age of the oldest in milliseconds; if owners take turns, of the next in turn. */
  readonly oldestMs: number;
  /** Delayed jobs of another payload version. A worker that takes one delays it again; meanwhile it counts as waiting. */
  readonly unsupported: number;
}

/** Backlogs of queues by name, at most a second old: concurrent callers share one read. */
export class Backlogs<K extends string> {
  readonly #names: readonly K[];
  readonly #cache: LRUCache<K, Backlog | 'unknown'>;

  constructor(queues: Readonly<Record<K, { backlog(): Promise<Backlog> }>>) {
    this.#names = Object.keys(queues) as K[];
    this.#cache = new LRUCache({
      max: this.#names.length,
      ttl: freshMs,
      fetchMethod: (name) => queues[name].backlog().catch(() => 'unknown' as const),
    });
  }

  /** Undefined if it cannot be read. */
  async get(name: K): Promise<Backlog | undefined> {
    const backlog = await this.#cache.fetch(name);
    return backlog === 'unknown' ? undefined : backlog;
  }

  /** All that can be read. */
  async getAll(): Promise<Map<K, Backlog>> {
    const backlogs = await Promise.all(this.#names.map(async (name) => [name, await this.get(name)] as const));
    return new Map(backlogs.flatMap(([name, backlog]) => (backlog ? [[name, backlog]] : [])));
  }
}
