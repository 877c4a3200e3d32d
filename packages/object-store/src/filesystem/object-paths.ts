import { join, relative } from 'node:path';
import { assertObjectKey } from '../object-keys.ts';

/** The path of an object below the folder `objects`. @throws TypeError for a key that Echodrop never makes */
export function pathOf(objects: string, key: string): string {
  assertObjectKey(key);
  return join(objects, key);
}

/** The path of an object whose key a list has returned: another application may have written it under any name. */
export function pathOfListed(objects: string, key: string): string {
  const path = join(objects, key);
  if (relative(objects, path) !== key || key.startsWith('../')) throw new TypeError('not a path below the store');
  return path;
}
