import type { Metrics } from '../metrics/metrics.ts';
import type { RedisClient } from './redis-client.ts';

/**
 * Tells how full the Redis of the jobs is. It must not forget any (`noeviction`), so once it is full it takes no new ones. Of a cluster, the
 * memory of the master that has least room. A limit of 0 is none.
 */
export function registerQueueMemoryMetrics(metrics: Metrics, redis: RedisClient): void {
  const helps = {
    echodrop_redis_used_memory_bytes: 'Memory that Redis uses.',
    echodrop_redis_max_memory_bytes: 'Memory that Redis may use; 0 where there is no limit.',
  };
  metrics.gaugesOnScrape(helps, 'redis', async () => {
    const infos = await Promise.all(nodesOf(redis).map((node) => node.info('memory')));
    const fullest = infos.map(memoryIn).sort((one, other) => fill(other) - fill(one))[0];
    if (fullest === undefined) return [];
    const { used, max } = fullest;
    return [{ of: 'queue', values: { echodrop_redis_used_memory_bytes: used, echodrop_redis_max_memory_bytes: max } }];
  });
}

function nodesOf(redis: RedisClient) {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}

function memoryIn(info: string): { used: number; max: number } {
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return { used: field('used_memory'), max: field('maxmemory') };
}

function fill({ used, max }: { used: number; max: number }): number {
  return max > 0 ? used / max : 0;
}
