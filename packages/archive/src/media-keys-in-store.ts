import { listObjects } from '@echodrop/object-store/list-objects';
import { isMediaKey, mediaObjectKey, mediaPrefix, renditionsPrefix } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';

/** The media keys after `after`, up to and including `to`. */
export interface KeyRange {
  readonly after?: string | undefined;
  readonly to?: string | undefined;
}

/** Lists the media keys of all media and renditions, sorted and without duplicates. @throws StoreUnavailable */
export async function* listMediaKeys(store: ObjectStore, after?: string): AsyncGenerator<string> {
  const sources = [listMedia(store, { after }), listRenditions(store, { after })];
  const next = await Promise.all(sources.map(nextKey));
  for (;;) {
    const [key] = next.filter((each) => each !== undefined).sort();
    if (key === undefined) return;
    yield key;
    for (const [n, source] of sources.entries()) while (next[n] === key) next[n] = await nextKey(source);
  }
}

async function nextKey(source: AsyncIterator<KeyedObject>): Promise<string | undefined> {
  const { value, done } = await source.next();
  return done ? undefined : value.mediaKey;
}

/** Lists media in `range`; skips other objects. @throws StoreUnavailable */
export async function* listMedia(store: ObjectStore, range: KeyRange): AsyncGenerator<KeyedObject> {
  const objects = listObjects(store, mediaPrefix, range.after && mediaObjectKey(range.after));
  for await (const found of inRange(objects, mediaPrefix, range))
    if (found.object.key === mediaObjectKey(found.mediaKey)) yield found;
}

/** Lists renditions of media in `range`. @throws StoreUnavailable */
export function listRenditions(store: ObjectStore, range: KeyRange): AsyncGenerator<KeyedObject> {
  // Skips the whole folder: a zero sorts right after the slash.
  const after = range.after && `${renditionsPrefix}${range.after}0`;
  return inRange(listObjects(store, renditionsPrefix, after), renditionsPrefix, range);
}

interface KeyedObject {
  readonly mediaKey: string;
  readonly object: ListedObject;
}

async function* inRange(
  objects: AsyncIterable<ListedObject>,
  prefix: string,
  { to }: KeyRange,
): AsyncGenerator<KeyedObject> {
  for await (const object of objects) {
    const [mediaKey = ''] = object.key.slice(prefix.length).split('/');
    if (to !== undefined && mediaKey > to) return;
    if (isMediaKey(mediaKey)) yield { mediaKey, object };
  }
}
