import { type ListedObject, maxListLength, type ObjectStore } from './object-store.ts';

/** Lists all objects below `prefix` after the key `after`, in key order. @throws StoreUnavailable */
export async function* listObjects(
  store: ObjectStore,
  prefix: string,
  after?: string | undefined,
): AsyncGenerator<ListedObject> {
  for (let last = after; ; ) {
    const page = await store.list(prefix, { after: last, limit: maxListLength });
    yield* page;
    if (page.length < maxListLength) return;
    last = page.at(-1)?.key;
  }
}

/** Removes all objects below `prefix`. @throws StoreUnavailable */
export async function removeObjects(store: ObjectStore, prefix: string): Promise<void> {
  for await (const { key } of listObjects(store, prefix)) await store.remove(key);
}
