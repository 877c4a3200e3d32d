import { LRUCache } from 'lru-cache';

const lookMs = 1000;

/** The jobs of a queue that no worker has begun. */
export interface Backlog {
  /** How many jobs wait, with or without somebody who waits for them. */
  readonly waiting: number;
  /** The age of the oldest of them in milliseconds. If owners take turns, that of the job whose turn is next. */
  readonly oldestMs: number;
  /** How many jobs workers of another release have to do. Each waits again now and then, until a worker of this release looks at it. */
  readonly left: number;
}

interface LookedAt {
  backlog(): Promise<Backlog>;
}

/** What waits in queues, each under a name, at most a second old: all who ask share one look. */
export class Backlogs<K extends string> {
  readonly #names: readonly K[];
  readonly #looks: LRUCache<K, Backlog | 'unknown'>;

  constructor(queues: Readonly<Record<K, LookedAt>>) {
    this.#names = Object.keys(queues) as K[];
    this.#looks = new LRUCache({
      max: this.#names.length,
      ttl: lookMs,
      fetchMethod: (name) => queues[name].backlog().catch(() => 'unknown' as const),
    });
  }

  /** Undefined where the queue cannot be looked at. */
  async of(name: K): Promise<Backlog | undefined> {
    const look = await this.#looks.fetch(name);
    return look === 'unknown' ? undefined : look;
  }

  /** Those that can be looked at. */
  async all(): Promise<Map<K, Backlog>> {
    const looks = await Promise.all(this.#names.map(async (name) => [name, await this.of(name)] as const));
    return new Map(looks.flatMap(([name, backlog]) => (backlog ? [[name, backlog]] : [])));
  }
}
