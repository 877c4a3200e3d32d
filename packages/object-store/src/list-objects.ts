import { type KeyPage, type ListedObject, maxListLength, type ObjectStore } from './object-store.ts';

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

/** Lists all keys below `prefix` after `after`, in key order; with `folders`, folders in place of the keys below them. @throws StoreUnavailable */
export async function* listKeys(
  store: Pick<ObjectStore, 'listKeys'>,
  prefix: string,
  { after, folders }: Omit<KeyPage, 'limit'> = {},
): AsyncGenerator<string> {
  for (let last = after; ; ) {
    const page = await store.listKeys(prefix, { after: last, limit: maxListLength, folders });
    yield* page;
    if (page.length < maxListLength) return;
    last = page.at(-1);
  }
}

/** Removes all objects below `prefix`. @throws StoreUnavailable */
export async function removeObjects(store: ObjectStore, prefix: string): Promise<void> {
  for await (const key of listKeys(store, prefix)) await store.remove(key);
}
