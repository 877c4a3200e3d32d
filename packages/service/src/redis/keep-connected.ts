import type { RedisClient } from './redis-client.ts';

const lookMs = 1000;
const mostLooks = 3;
const alive = ['wait', 'connecting', 'connect', 'ready'];

/**
 * Connects a client again that has stopped trying to: BullMQ disconnects what hangs, to connect it anew, and where that fails once a
 * cluster's client has ended for good; and the late end of an old connection can leave one closed without another attempt (measured
 * with ioredis 6.0 and BullMQ 6.7). Until it is disposed of.
 */
export function keepConnected(client: RedisClient): Disposable {
  let looks = 0;
  const timer = setInterval(() => {
    looks = alive.includes(client.status) ? 0 : looks + 1;
    if (looks < mostLooks) return;
    looks = 0;
    client.connect().catch(() => {});
  }, lookMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
