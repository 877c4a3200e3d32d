import { randomHex } from '@echodrop/service/tracing/random-hex';

/** A new media key: 128 random bits as 32 hexadecimal digits. Every attempt of an upload gets its own. */
export function newMediaKey(): string {
  return randomHex(16);
}

/** Where the bytes of an upload lie. */
export function mediaObjectKey(mediaKey: string): string {
  return `${mediaPrefix}${mediaKey}`;
}

/** Where the record of a media id lies; writing it is the commit point. */
export function recordKey(mediaId: string): string {
  return `records/${mediaId}.json`;
}

/** Below which all records lie. */
export const recordsPrefix = 'records/';

/** Below which all renditions of media lie. */
export function renditionsPrefixOf(mediaKey: string): string {
  return `${renditionsPrefix}${mediaKey}/`;
}

/** Below which the uploads of each owner are listed. */
export const ownersPrefix = 'by-user/';

/** Below which the uploads are listed, newest first: all, or those of one owner (its hash). */
export function listingPrefix(owner?: string): string {
  return owner === undefined ? 'by-time/' : `${ownersPrefix}${owner}/`;
}

/** Below which all media lies. */
export const mediaPrefix = 'media/';

/** Below which all renditions lie. */
export const renditionsPrefix = 'renditions/';

/** Where the last sweep has left its report. */
export const sweepReportKey = 'reports/sweep.json';

/** Whether `text` has the shape of a media key. */
export function isMediaKey(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** Below which it lies who may not upload: users by the hash of provider and subject, applications by that of their name. */
export function blocksPrefix(kind: 'users' | 'applications'): string {
  return `blocks/${kind}/`;
}

/** Where it lies that a user may not upload; `owner` is the hash of provider and subject. */
export function userBlockKey(owner: string): string {
  return `${blocksPrefix('users')}${owner}`;
}

/** Where the rendition lies that a recipe makes of media; each version of a recipe has a place of its own. */
export function renditionKey(
  mediaKey: string,
  { name, version, extension }: { name: string; version: number; extension: string },
): string {
  return `${renditionsPrefixOf(mediaKey)}${name}-${version}.${extension}`;
}

const ownFolders = ['media', 'records', 'renditions', 'by-time', 'by-user', 'blocks', 'reports'];

/** Whether a key is one of those that are made here: others of the same bucket are not ours to judge. */
export function isOwnKey(key: string): boolean {
  return ownFolders.some((folder) => key.startsWith(`${folder}/`)) && isObjectKey(key);
}

/** @throws TypeError unless `prefix` is a key up to one of its slashes, that one included */
export function assertPrefix(prefix: string): void {
  if (!prefix.endsWith('/')) throw new TypeError('not a prefix of object keys');
  assertObjectKey(prefix.slice(0, -1));
}

/** @throws TypeError unless `key` is made of plain segments: nothing that an address or a path would read as more than a name */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new TypeError('not an object key');
}

function isObjectKey(key: string): boolean {
  return key.length <= 512 && /^[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/.test(key);
}
