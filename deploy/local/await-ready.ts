import { reachableHost } from '@echodrop/client/local-system';
import pRetry from 'p-retry';
import type { ServiceConfig, ServiceName } from './services.ts';

const retries = { retries: Number.POSITIVE_INFINITY, minTimeout: 100, factor: 1, maxRetryTime: 60_000 };

/**
 * Resolves if the ops ports of all services report that they are ready.
 * @throws an Error that names the first service that is not ready within a minute, and why; or the signal's reason
 */
export async function awaitReady(configs: ReadonlyMap<ServiceName, ServiceConfig>, signal: AbortSignal): Promise<void> {
  const checks = [...configs].map(([name, config]) =>
    pRetry(() => requireReady(name, config, signal), { ...retries, signal }),
  );
  await Promise.all(checks);
}

async function requireReady(name: ServiceName, { HOST, OPS_PORT }: ServiceConfig, signal: AbortSignal): Promise<void> {
  const response = await fetch(`http://${reachableHost(HOST)}:${OPS_PORT}/readyz`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]),
  }).catch((cause: unknown) => {
    throw new Error(`${name} is not ready: no response on its ops port ${OPS_PORT}`, { cause });
  });
  const { state, reasons = {} } = (await response.json()) as { state: string; reasons?: Record<string, string> };
  if (response.status === 200) return;
  const down = Object.entries(reasons).map(([part, reason]) => `${part} is down (${reason})`);
  throw new Error(`${name} is not ready: ${down.length > 0 ? down.join(', ') : state}`);
}
