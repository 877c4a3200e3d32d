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
  };
  metrics.gaugesOnScrape(helps, 'redis', async () => {
    const infos = await Promise.all(nodesOf(redis).map((node) => node.info('memory')));
    const fullest = infos.map(readMemory).sort((one, other) => usage(other) - usage(one))[0];
    if (fullest === undefined) return [];
    const { used, max } = fullest;
    return [
      { label: 'queue', values: { echodrop_redis_used_memory_bytes: used, echodrop_redis_max_memory_bytes: max } },
    ];
  });
}

function readMemory(info: string): { used: number; max: number } {
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return { used: field('used_memory'), max: field('maxmemory') };
}

function usage({ used, max }: { used: number; max: number }): number {
  return max > 0 ? used / max : 0;
}
