import { patienceMs } from '@echodrop/testkit/patience';
import { createLog } from '../log.ts';
import { connectRedis, retryForever } from './redis.ts';
import { redisAt } from './redis-at.fixture.ts';

// Prints a response of Redis. A separate process, since Node reads trusted certificate authorities only at its start.
const [, , address = ''] = process.argv;
const options = { ...retryForever, connectTimeout: patienceMs, socketTimeout: patienceMs };
await using redis = connectRedis(redisAt(address), options, createLog('redis-tls', 'warn'));
// A cluster's first connection and response, which otherwise have a second.
Object.assign(redis.options, { slotsRefreshTimeout: patienceMs });
process.stdout.write(`${await redis.set('a key', 'a value')}\n`);
