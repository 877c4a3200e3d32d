import { text } from '../env.ts';

const prefixes = /^[A-Za-z\d][A-Za-z\d_-]{0,31}$/;

/** The prefix of all names in both Redis. */
export const redisPrefixSetting = {
  REDIS_PREFIX: text('echodrop')
    .refine(
      (prefix) => prefixes.test(prefix),
      'must have 1 to 32 letters, digits, hyphens or underscores, and begin with a letter or digit',
    )
    .describe(
      'beginning of all keys in Redis. Communities that share one ' +
        '[need different ones](../host/redis-and-store.md#one-redis-for-several-communities)',
    ),
};

/** Makes every name of a key or channel in Redis, so that each begins with the prefix or with a brace and the prefix. */
export class RedisNames {
  readonly prefix: string;
  /** The prefix of all queues. The braces put all keys on one node of a Redis Cluster. */
  readonly queues: string;

  constructor(prefix: string) {
    this.prefix = prefix;
    this.queues = `{${prefix}}`;
  }

  /** A name. A cluster spreads them over its nodes. */
  nameOf(...parts: readonly (string | number)[]): string {
    return [this.prefix, ...parts].join(':');
  }

  /** The beginning of names with a format of this version. The braces put all keys on one node of a Redis Cluster. */
  versioned(version: number): string {
    return `{${this.prefix}:${version}}`;
  }
}
