import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { patienceMs } from '../patience.ts';
import { startRedis } from './start-redis.ts';

/** The reply of Redis to an inline command; undefined without a reply in time. */
function say(port: number, command: string, withinMs = patienceMs): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    socket.setTimeout(withinMs, () => socket.destroy());
    socket.once('data', (response) => {
      resolve(response.toString().trim());
      socket.destroy();
    });
    socket.once('error', () => {});
    socket.once('close', () => resolve(undefined));
  });
}

test('a Redis can be frozen, killed and restarted at its address, and ends when disposed', async () => {
  const redis = await startRedis();
  await redis.freeze();
  expect(await say(redis.port, 'PING', 300)).toBeUndefined();
  await redis.thaw();
  expect(await say(redis.port, 'SET name value')).toBe('+OK');
  await redis.kill();
  expect(await say(redis.port, 'PING')).toBeUndefined();
  await redis.restart();
  expect(await say(redis.port, 'GET name')).toBe('$-1');
  await redis[Symbol.asyncDispose]();
  expect(redis.pid).toBeUndefined();
  expect(await say(redis.port, 'PING')).toBeUndefined();
});

test('a persistent Redis keeps its data across a stop', async () => {
  await using redis = await startRedis({ persistent: true });
  await say(redis.port, 'SET name value');
  await redis.stop();
  await redis.restart();
  expect(await say(redis.port, 'GET name')).toBe('$5\r\nvalue');
});
