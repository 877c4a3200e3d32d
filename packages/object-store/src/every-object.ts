import { type ListedObject, longestList, type ObjectStore } from './object-store.ts';

/** Every object whose key begins with `prefix`, in the order of their keys, however many there are. @throws StoreUnavailable */
export async function* everyObject(store: ObjectStore, prefix: string): AsyncGenerator<ListedObject> {
  for (let after: string | undefined; ; ) {
    const page = await store.list(prefix, { after, limit: longestList });
    yield* page;
    if (page.length < longestList) return;
    after = page.at(-1)?.key;
  }
}

/** Removes every object whose key begins with `prefix`. @throws StoreUnavailable */
export async function removeBelow(store: ObjectStore, prefix: string): Promise<void> {
  for await (const { key } of everyObject(store, prefix)) await store.remove(key);
}
