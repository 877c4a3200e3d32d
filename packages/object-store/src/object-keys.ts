import { randomBytes } from 'node:crypto';

export const recordsPrefix = 'records/';
export const mediaPrefix = 'media/';
export const renditionsPrefix = 'renditions/';
/** Prefix of the listings of all owners. */
export const ownersPrefix = 'by-user/';

/** Prefix of the states of resumable uploads, each in a folder of its own. */
export const resumablePrefix = 'resumable/';

/** Prefix of the objects of one resumable upload. */
export function resumablePrefixOf(id: string): string {
  return `${resumablePrefix}${id}/`;
}

/** The report of the last sweep. */
export const sweepReportKey = 'reports/sweep.json';

/** A new media key: 128 random bits as 32 hexadecimal digits. Every attempt of an upload gets its own. */
export function newMediaKey(): string {
  return randomBytes(16).toString('hex');
}

export function isMediaKey(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text);
}

/** The object with the bytes of an upload. */
export function mediaObjectKey(mediaKey: string): string {
  return `${mediaPrefix}${mediaKey}`;
}

/** The object with the record of a media id; writing it publishes the upload. */
export function recordKey(mediaId: string): string {
  return `${recordsPrefix}${mediaId}.json`;
}

/** Prefix of a listing, newest first: of all uploads, or of the owner with this hash. */
export function listingPrefix(owner?: string): string {
  return owner === undefined ? 'by-time/' : `${ownersPrefix}${owner}/`;
}

/** Prefix of the blocks of users or applications. */
export function blocksPrefix(kind: 'users' | 'applications'): string {
  return `blocks/${kind}/`;
}

/** The block of a user; `owner` is the hash of provider and subject. */
export function userBlockKey(owner: string): string {
  return `${blocksPrefix('users')}${owner}`;
}

/** Prefix of all renditions of one media. */
export function renditionsPrefixOf(mediaKey: string): string {
  return `${renditionsPrefix}${mediaKey}/`;
}

/** The rendition that a recipe makes of media; each version of a recipe has its own key. */
export function renditionKey(
  mediaKey: string,
  { name, version, extension }: { name: string; version: number; extension: string },
): string {
  return `${renditionsPrefixOf(mediaKey)}${name}-${version}.${extension}`;
}

/** The folders of all keys that Echodrop makes. */
export const ownFolders = ['media', 'records', 'renditions', 'resumable', 'by-time', 'by-user', 'blocks', 'reports'];

/** Whether Echodrop made the key; the bucket may hold objects of other applications. */
export function isOwnKey(key: string): boolean {
  return ownFolders.some((folder) => key.startsWith(`${folder}/`)) && isObjectKey(key);
}

/** @throws TypeError unless `prefix` is the start of a key and ends with a slash */
export function assertPrefix(prefix: string): void {
  if (!prefix.endsWith('/')) throw new TypeError('not a prefix of object keys');
  assertObjectKey(prefix.slice(0, -1));
}

/** @throws TypeError unless `key` consists of plain segments that no URL or path parser interprets */
export function assertObjectKey(key: string): void {
  if (!isObjectKey(key)) throw new TypeError('not an object key');
}

/** Whether `key` consists of plain segments. */
export function isObjectKey(key: string): boolean {
  return key.length <= 512 && /^[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/.test(key);
}
