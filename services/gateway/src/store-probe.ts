import { isDeepStrictEqual } from 'node:util';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { limitationsOf, type StoreCapabilities } from '@echodrop/object-store/store-capabilities';

// The store may be upgraded, or have responded wrongly once.
const repeatMs = 5 * 60_000;

/**
 * The returned function probes the store, unless that is done; a store that lacks something, again after five minutes. It waits for the first result
 * only: a slow store must not become unready every five minutes. It throws StoreUnavailable. `onProbed` gets the first result and each change.
 */
export function storeProbe(
  store: Pick<ObjectStore, 'probe'>,
  onProbed: (found: StoreCapabilities) => void,
): () => Promise<void> {
  let last: StoreCapabilities | undefined;
  let repeatAt = 0;
  let running: Promise<void> | undefined;
  const probe = async () => {
    const found = await store.probe();
    repeatAt = limitationsOf(found).length > 0 ? performance.now() + repeatMs : Number.POSITIVE_INFINITY;
    if (!isDeepStrictEqual(found, last)) onProbed(found);
    last = found;
  };
  return async () => {
    if (last && performance.now() < repeatAt) return;
    running ??= probe().finally(() => {
      running = undefined;
    });
    if (last) running.catch(() => {});
    else await running;
  };
}
