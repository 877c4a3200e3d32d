import { listKeys, listObjects } from '@echodrop/object-store/list-objects';
import {
  isMediaKey,
  mediaObjectKey,
  mediaPrefix,
  renditionsPrefix,
  renditionsPrefixOf,
} from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';

interface KeyedObject {
  readonly mediaKey: string;
  readonly object: ListedObject;
}

/** Lists the media keys of all media and renditions, sorted and without duplicates. @throws StoreUnavailable */
export async function* listMediaKeys(store: ObjectStore): AsyncGenerator<string> {
  const media = listKeys(store, mediaPrefix, { folders: true });
  const sources = [keysIn(media, mediaPrefix, mediaObjectKey), listRenditionFolders(store)];
  const next = await Promise.all(sources.map(nextKey));
  for (;;) {
    const [key] = next.filter((each) => each !== undefined).sort();
    if (key === undefined) return;
    yield key;
    for (const [n, source] of sources.entries()) while (next[n] === key) next[n] = await nextKey(source);
  }
}

async function nextKey(source: AsyncIterator<string>): Promise<string | undefined> {
  const { value, done } = await source.next();
  return done ? undefined : value;
}

/** Lists all media; skips other objects. @throws StoreUnavailable */
export async function* listMedia(store: ObjectStore): AsyncGenerator<KeyedObject> {
  for await (const object of listObjects(store, mediaPrefix)) {
    const mediaKey = object.key.slice(mediaPrefix.length);
    if (isMediaKey(mediaKey)) yield { mediaKey, object };
  }
}

/** Lists renditions of the media for which `isWanted` is true. @throws StoreUnavailable */
export async function* listRenditions(
  store: ObjectStore,
  isWanted: (mediaKey: string) => boolean,
): AsyncGenerator<KeyedObject> {
  for await (const mediaKey of listRenditionFolders(store)) {
    if (!isWanted(mediaKey)) continue;
    for await (const object of listObjects(store, renditionsPrefixOf(mediaKey))) yield { mediaKey, object };
  }
}

/** Lists the media keys of all renditions, without reading their folders. @throws StoreUnavailable */
export function listRenditionFolders(store: ObjectStore): AsyncGenerator<string> {
  const folders = listKeys(store, renditionsPrefix, { folders: true });
  return keysIn(folders, renditionsPrefix, renditionsPrefixOf);
}

/** The media keys among `names`, which are those of `nameOf`. */
async function* keysIn(
  names: AsyncIterable<string>,
  prefix: string,
  nameOf: (mediaKey: string) => string,
): AsyncGenerator<string> {
  for await (const name of names) {
    const mediaKey = name.slice(prefix.length).split('/', 1)[0] ?? '';
    if (isMediaKey(mediaKey) && name === nameOf(mediaKey)) yield mediaKey;
  }
}
