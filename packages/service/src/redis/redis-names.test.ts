import { expect, test } from 'vitest';
import { readSettings } from '../env.ts';
import { RedisNames, redisPrefixSetting } from './redis-names.ts';

// Deployments have keys with these names.
test('without the setting, names are those of earlier releases', () => {
  const names = new RedisNames(readSettings(redisPrefixSetting, {}).REDIS_PREFIX);
  expect([names.queues, names.versioned(3), names.nameOf('idempotency', 2, 'abc')]).toEqual([
    '{echodrop}',
    '{echodrop:3}',
    'echodrop:idempotency:2:abc',
  ]);
});

test.each(['a', 'harbour', 'Echodrop_2', '0-9', 'a'.repeat(32)])('accepts the prefix %s', (prefix) => {
  expect(readSettings(redisPrefixSetting, { REDIS_PREFIX: prefix })).toEqual({ REDIS_PREFIX: prefix });
});

// A colon would let the rights of one prefix include another; braces and the signs of patterns have meanings of their own.
test.each(['a:b', '{a}', 'a*', 'a?', '[a]', '-a', 'a b', 'ä', 'a'.repeat(33)])('refuses the prefix %j', (prefix) => {
  expect(() => readSettings(redisPrefixSetting, { REDIS_PREFIX: prefix })).toThrow(/^REDIS_PREFIX must have 1 to 32/);
});
