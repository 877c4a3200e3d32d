import type { RedisClient } from './redis-client.ts';

const intervalMs = 1000;
const maxIdleChecks = 3;
const activeStates = ['wait', 'connecting', 'connect', 'ready'];

/**
 * Reconnects a client that no longer does so itself, until disposed. BullMQ disconnects hanging clients to reconnect them; if that fails once, a
 * cluster client gives up. The late end of an old connection can also leave a client closed (measured with ioredis 6.0 and BullMQ 6.7).
 */
export function keepConnected(client: RedisClient): Disposable {
  let idleChecks = 0;
  const timer = setInterval(() => {
    idleChecks = activeStates.includes(client.status) ? 0 : idleChecks + 1;
    if (idleChecks < maxIdleChecks) return;
    idleChecks = 0;
    client.connect().catch(() => {});
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
