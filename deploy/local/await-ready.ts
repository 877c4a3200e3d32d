import { reachableHost } from '@echodrop/client/local-system';
import { retryFor } from '@echodrop/service/retry-for';

/** Where a program says whether it is ready. */
interface OpsAddress {
  readonly HOST: string;
  readonly OPS_PORT: number;
}

const readyWithinMs = 60_000;

/**
 * Resolves if the ops ports of all programs report that they are ready.
 * @throws an Error that names the first program that is not ready within a minute, and why; or the signal's reason
 */
export async function awaitReady(configs: ReadonlyMap<string, OpsAddress>, signal: AbortSignal): Promise<void> {
  const isAwaited = () => !signal.aborted;
  const checks = [...configs].map(([name, config]) =>
    retryFor(readyWithinMs, () => requireReady(name, config, signal), isAwaited),
  );
  await Promise.all(checks);
}

async function requireReady(name: string, { HOST, OPS_PORT }: OpsAddress, signal: AbortSignal): Promise<void> {
  const response = await fetch(`http://${reachableHost(HOST)}:${OPS_PORT}/readyz`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new Error(`${name} is not ready: no response on its ops port ${OPS_PORT}`, { cause });
  });
  if (response.status === 200) return;
  const { state, reasons = {} } = (await response.json()) as { state: string; reasons?: Record<string, string> };
  const down = Object.entries(reasons).map(([part, reason]) => `${part} is down (${reason})`);
  throw new Error(`${name} is not ready: ${down.length > 0 ? down.join(', ') : state}`);
}
