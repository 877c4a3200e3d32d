import { listObjects } from '@echodrop/object-store/list-objects';
import { isMediaKey, mediaObjectKey, mediaPrefix, renditionsPrefix } from '@echodrop/object-store/object-keys';
import type { ListedObject, ObjectStore } from '@echodrop/object-store/object-store';

/** A part of all media keys: those after `after`, up to `to`, that one included. */
export interface KeyRange {
  readonly after?: string | undefined;
  readonly to?: string | undefined;
}

/** Every media key of which the store has media or a rendition, in their order, each once. @throws StoreUnavailable */
export async function* mediaKeysInStore(store: ObjectStore, after?: string): AsyncGenerator<string> {
  const sources = [mediaIn(store, { after }), renditionsIn(store, { after })];
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

/** All media with keys in `range`; what lies there without a media key is passed over. @throws StoreUnavailable */
export function mediaIn(store: ObjectStore, range: KeyRange): AsyncGenerator<KeyedObject> {
  return inRange(listObjects(store, mediaPrefix, range.after && mediaObjectKey(range.after)), mediaPrefix, range);
}

/** All renditions of media with keys in `range`. @throws StoreUnavailable */
export function renditionsIn(store: ObjectStore, range: KeyRange): AsyncGenerator<KeyedObject> {
  // What comes after a folder with all that is in it: a zero comes next after the slash.
  const after = range.after && `${renditionsPrefix}${range.after}0`;
  return inRange(listObjects(store, renditionsPrefix, after), renditionsPrefix, range);
}

/** An object that belongs to a media key. */
export interface KeyedObject {
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
