import type { ObjectStore } from '@echodrop/object-store/object-store';

// The store may be upgraded, or have answered wrongly once.
const recheckMs = 5 * 60_000;

/**
 * A function that checks whether the store verifies checksums of writes, unless that is known. It checks a negative result again after
 * five minutes, and throws StoreUnavailable. `onResult` is called with the first result and with each change.
 */
export function checksumCheck(
  store: Pick<ObjectStore, 'supportsChecksums'>,
  onResult: (supportsChecksums: boolean) => void,
): () => Promise<void> {
  let known: boolean | undefined;
  let checkedAt = 0;
  let running: Promise<void> | undefined;
  const check = async () => {
    const found = await store.supportsChecksums();
    checkedAt = performance.now();
    if (found !== known) onResult(found);
    known = found;
  };
  return async () => {
    if (known || (known === false && performance.now() - checkedAt < recheckMs)) return;
    running ??= check().finally(() => {
      running = undefined;
    });
    await running;
  };
}
