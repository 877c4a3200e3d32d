import type { ObjectStore } from '../object-store.ts';

/** Two stores on the same objects, as in two processes. */
export interface OpenedStores extends AsyncDisposable {
  readonly store: ObjectStore;
  readonly other: ObjectStore;
}
