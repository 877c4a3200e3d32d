import { createLog } from '../log.ts';
import { Secret } from '../secret.ts';
import { connectRedis, retryForever } from './redis.ts';

// Writes what Redis at an address answers: authorities that are believed can be told to a process only at its start.
const [, , address = ''] = process.argv;
await using redis = connectRedis(new Secret(address), retryForever, createLog('redis-tls', 'warn'));
process.stdout.write(`${await redis.set('a key', 'said')}\n`);
