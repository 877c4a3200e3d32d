import type { ObjectStore } from '@echodrop/object-store/object-store';
import { limitationsOf } from '@echodrop/object-store/store-capabilities';

// The store may be upgraded, or have responded wrongly once.
const firstPauseMs = 5 * 60_000;
const lastPauseMs = 24 * 60 * 60_000;

/**
 * The returned function checks that the store is there, and probes it, unless that is done; after an outage again, as it may be another store by then;
 * and one that lacks something after five minutes, ten, and so on up to a day. It does not wait for the latter: a slow store must not become unready
 * each time. It throws StoreUnavailable.
 */
export function storeProbe(store: Pick<ObjectStore, 'ready' | 'probe'>): () => Promise<void> {
  let isKnown = false;
  let [pauseMs, repeatAt] = [firstPauseMs, 0];
  let running: Promise<void> | undefined;
  const probe = async () => {
    repeatAt = performance.now() + pauseMs;
    const found = await store.probe();
    isKnown = true;
    if (limitationsOf(found).length === 0) repeatAt = Number.POSITIVE_INFINITY;
    pauseMs = Math.min(2 * pauseMs, lastPauseMs);
  };
  return async () => {
    await store.ready().catch((error: unknown) => {
      isKnown = false;
      pauseMs = firstPauseMs;
      throw error;
    });
    if (isKnown && performance.now() < repeatAt) return;
    running ??= probe().finally(() => {
      running = undefined;
    });
    if (isKnown) running.catch(() => {});
    else await running;
  };
}
