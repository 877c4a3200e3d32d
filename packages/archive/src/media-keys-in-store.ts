import { listKeys, listObjects } from '@echodrop/object-store/list-objects';
import {
  isMediaKey,
  mediaObjectKey,
  mediaPrefix,
  renditionsPrefix,
  renditionsPrefixOf,
} from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';

/** Lists all media; skips other objects. @throws StoreUnavailable */
export async function* listMedia(
  store: ObjectStore,
): AsyncGenerator<{ readonly mediaKey: string; readonly object: ListedObject }> {
  for await (const object of listObjects(store, mediaPrefix)) {
    const mediaKey = object.key.slice(mediaPrefix.length);
    if (isMediaKey(mediaKey)) yield { mediaKey, object };
  }
}

/** Lists the media keys of all media. @throws StoreUnavailable */
export function listMediaKeys(store: ObjectStore): AsyncGenerator<string> {
  return mediaKeysIn(store, mediaPrefix, mediaObjectKey);
}

/** Lists the media keys of all renditions, without reading their folders. @throws StoreUnavailable */
export function listRenditionFolders(store: ObjectStore): AsyncGenerator<string> {
  return mediaKeysIn(store, renditionsPrefix, renditionsPrefixOf);
}

async function* mediaKeysIn(
  store: ObjectStore,
  prefix: string,
  nameOf: (mediaKey: string) => string,
): AsyncGenerator<string> {
  for await (const name of listKeys(store, prefix, { folders: true })) {
    const mediaKey = name.slice(prefix.length).split('/', 1)[0] ?? '';
    if (isMediaKey(mediaKey) && name === nameOf(mediaKey)) yield mediaKey;
  }
}
