import { createLog } from '../log.ts';
import { Secret } from '../secret.ts';
import { connectRedis, retryForever } from './redis.ts';

// Prints a response of Redis. A separate process, since Node reads trusted certificate authorities only at its start.
const [, , address = ''] = process.argv;
await using redis = connectRedis(new Secret(address), retryForever, createLog('redis-tls', 'warn'));
process.stdout.write(`${await redis.set('a key', 'a value')}\n`);
