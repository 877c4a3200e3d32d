import { isDeepStrictEqual } from 'node:util';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { limitationsOf, type StoreCapabilities } from '@echodrop/object-store/store-capabilities';

// The store may be upgraded, or have responded wrongly once.
const repeatMs = 5 * 60_000;

/**
 * The returned function checks that the store is there, and probes it, unless that is done; after an outage again, as it may be another store by then;
 * and one that lacks something every five minutes. It does not wait for the latter: a slow store must not become unready each time.
 * It throws StoreUnavailable. `onProbed` gets the first result and each change.
 */
export function storeProbe(
  store: Pick<ObjectStore, 'ready' | 'probe'>,
  onProbed: (found: StoreCapabilities) => void,
): () => Promise<void> {
  let last: StoreCapabilities | undefined;
  let isKnown = false;
  let repeatAt = 0;
  let running: Promise<void> | undefined;
  const probe = async () => {
    repeatAt = performance.now() + repeatMs;
    const found = await store.probe();
    isKnown = true;
    if (limitationsOf(found).length === 0) repeatAt = Number.POSITIVE_INFINITY;
    if (!isDeepStrictEqual(found, last)) onProbed(found);
    last = found;
  };
  return async () => {
    await store.ready().catch((error: unknown) => {
      isKnown = false;
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
