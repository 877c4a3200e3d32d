import type { ObjectStore } from '@echodrop/object-store/object-store';

// The store may be upgraded, or have responded wrongly once.
const recheckMs = 5 * 60_000;

/**
 * The returned function checks whether the store verifies checksums of writes, unless that is known; a negative result, again after five
 * minutes. It throws StoreUnavailable. `onResult` gets the first result and each change.
 */
export function checksumCheck(
  store: Pick<ObjectStore, 'supportsChecksums'>,
  onResult: (supportsChecksums: boolean) => void,
): () => Promise<void> {
  let isVerifying: boolean | undefined;
  let checkedAt = 0;
  let running: Promise<void> | undefined;
  const check = async () => {
    const found = await store.supportsChecksums();
    checkedAt = performance.now();
    if (found !== isVerifying) onResult(found);
    isVerifying = found;
  };
  return async () => {
    if (isVerifying || (isVerifying === false && performance.now() - checkedAt < recheckMs)) return;
    running ??= check().finally(() => {
      running = undefined;
    });
    await running;
  };
}
