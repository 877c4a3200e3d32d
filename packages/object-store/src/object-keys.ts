import { randomBytes } from 'node:crypto';

/** A new media key: 128 random bits as 32 hexadecimal digits. Every attempt of an upload gets its own. */
export function newMediaKey(): string {
  return randomBytes(16).toString('hex');
}

/** Where the bytes of an upload lie. */
export function mediaObject(mediaKey: string): string {
  return `media/${mediaKey}`;
}

/** Where the record of a media id lies; writing it is the commit point. */
export function recordObject(mediaId: string): string {
  return `records/${mediaId}.json`;
}

/** Where the rendition lies that a recipe makes of media; each version of a recipe has a place of its own. */
export function renditionObject(
  mediaKey: string,
  { name, version, extension }: { name: string; version: number; extension: string },
): string {
  return `renditions/${mediaKey}/${name}-${version}.${extension}`;
}

/** @throws TypeError unless `key` is made of plain segments: nothing that an address or a path would read as more than a name */
export function assertObjectKey(key: string): void {
  if (key.length > 512 || !/^[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/.test(key)) throw new TypeError('not an object key');
}
