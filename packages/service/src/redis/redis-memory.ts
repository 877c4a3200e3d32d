import type { Metrics } from '../metrics/metrics.ts';
import { nodesOf, type RedisClient } from './redis-client.ts';

/**
 * Registers memory metrics of the queue Redis, which rejects new jobs once it is full (`noeviction`). For a cluster, they show
 * the master with the least free memory. A limit of 0 means none.
 */
export function registerQueueMemoryMetrics(metrics: Metrics, redis: RedisClient): void {
  const helps = {
    echodrop_redis_used_memory_bytes: 'Memory that the queue Redis uses.',
    echodrop_redis_max_memory_bytes: 'Memory that the queue Redis may use (maxmemory); 0 if there is no limit.',
    echodrop_redis_evicts:
      'Whether the queue Redis drops jobs when it is full (1), because its maxmemory-policy is not noeviction.',
  };
  metrics.gaugesOnScrape(helps, 'redis', async () => {
    const [fullest, ...others] = (await memoryOf(redis)).sort((one, other) => usage(other) - usage(one));
    if (fullest === undefined) return [];
    const { used, max } = fullest;
    const evicts = [fullest, ...others].some(mayEvict) ? 1 : 0;
    return [
      {
        label: 'queue',
        values: {
          echodrop_redis_used_memory_bytes: used,
          echodrop_redis_max_memory_bytes: max,
          echodrop_redis_evicts: evicts,
        },
      },
    ];
  });
}

interface Memory {
  readonly used: number;
  readonly max: number;
  /** What Redis evicts when it is full; undefined if it does not say. */
  readonly policy: string | undefined;
}

/** The memory of a server, or of each master of a cluster. @throws what Redis throws */
export async function memoryOf(redis: RedisClient): Promise<Memory[]> {
  const infos = await Promise.all(nodesOf(redis).map((node) => node.info('memory')));
  return infos.map((info) => {
    const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
    return {
      used: Number(field('used_memory')),
      max: Number(field('maxmemory')),
      policy: field('maxmemory_policy'),
    };
  });
}

/** Whether the server drops keys when it is full, also if it has no limit yet. */
export function mayEvict({ policy = 'noeviction' }: Pick<Memory, 'policy'>): boolean {
  return policy !== 'noeviction';
}

function usage({ used, max }: Memory): number {
  return max > 0 ? used / max : 0;
}
