import { listKeys } from '@echodrop/object-store/list-objects';
import { blocksPrefix, mediaPrefix, renditionsPrefix, resumablePrefix } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { StoreFault } from './store-finding.ts';

const hash = '[0-9a-f]{32}';

// The shapes of all keys below these prefixes.
const shapes = [
  [mediaPrefix, new RegExp(`^${mediaPrefix}${hash}$`)],
  [renditionsPrefix, new RegExp(`^${renditionsPrefix}${hash}/[\\w.-]+$`)],
  [blocksPrefix('users'), new RegExp(`^${blocksPrefix('users')}${hash}$`)],
  [blocksPrefix('applications'), new RegExp(`^${blocksPrefix('applications')}${hash}$`)],
  [resumablePrefix, new RegExp(`^${resumablePrefix}${hash}/(?:(?:0|[1-9]\\d{0,8})\\.json|tail-${hash})$`)],
] as const;

/** Finds objects that nothing reads or sweeps, among media, renditions, blocks and resumable uploads. @throws StoreUnavailable, or the signal's reason */
export async function* findUnknownObjects(store: ObjectStore, signal: AbortSignal): AsyncGenerator<StoreFault> {
  for (const [prefix, shape] of shapes) {
    for await (const key of listKeys(store, prefix)) {
      signal.throwIfAborted();
      if (!shape.test(key)) yield { fault: 'unknown_object', key };
    }
  }
}
