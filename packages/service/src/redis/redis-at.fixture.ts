import { Secret } from '../secret.ts';
import type { RedisPlace } from './redis.ts';
import { RedisNames } from './redis-names.ts';

/** The Redis at `url`, by default with the names of a system without REDIS_PREFIX. */
export function redisAt(url: string, prefix = 'echodrop'): RedisPlace {
  return { url: new Secret(url), names: new RedisNames(prefix) };
}
