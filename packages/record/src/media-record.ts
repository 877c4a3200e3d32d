import { customAlphabet } from 'nanoid';
import { z } from 'zod';

export interface RecordUser {
  readonly id: bigint;
  /** The name at the identity provider. */
  readonly screenName: string;
}

/** The record as clients get it (docs/reference/interface.md section 2). */
export interface MediaRecord {
  readonly id: string;
  readonly text: string;
  readonly url: string;
  /** Pixels, as displayed. */
  readonly width: number;
  readonly height: number;
  /** Bytes of the uploaded file. */
  readonly size: number;
  /** A name from the closed list in docs/reference/media.md: `jpg`, `mp4`, ... */
  readonly type: string;
  readonly timestamp: Date;
  readonly user: RecordUser;
}

export interface RecordPage<R = MediaRecord> {
  readonly records: readonly R[];
  /** The cursor of the next page; none on the last. */
  readonly next?: string | undefined;
}

/** The record as the store keeps it. It has no `url`, which depends on the site's address. */
export interface StoredRecord extends Omit<MediaRecord, 'url'> {
  /** Alternative text: what the media shows, for people who cannot see it. Clients do not get it. */
  readonly alt?: string | undefined;
  readonly mediaKey: string;
  /** The store's tag of the media's bytes. */
  readonly etag: string;
  /** The CRC-32 of the media's bytes: eight hexadecimal digits. Records of earlier releases have none. */
  readonly crc32?: string | undefined;
  /** The provider's advertised address. With the subject it identifies the owner, which `user.id` alone does not. */
  readonly provider: string;
  /** The user's identifier at the provider, as the provider sent it. */
  readonly subject: string;
  /** The operator's name for the API key. */
  readonly application: string;
}

/** What replaces a removed record: enough to finish the removal, without its content. */
export interface Tombstone extends Pick<StoredRecord, 'id' | 'mediaKey' | 'timestamp'> {
  /** The hash of provider and subject, as in listing entries. */
  readonly owner: string;
  readonly removed: { readonly by: 'owner' | 'operator'; readonly at: Date };
}

export function isTombstone(found: StoredRecord | Tombstone): found is Tombstone {
  return 'removed' in found;
}

/** The record for clients. `publicSite` is an address without a trailing slash. */
export function publicRecord(stored: StoredRecord, publicSite: string): MediaRecord {
  const { id, text, width, height, size, type, timestamp, user } = stored;
  return { id, text, url: `${publicSite}/${id}`, width, height, size, type, timestamp, user };
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new media id: 10 characters of base62 from the system's secure random source (59 bits). */
export const newMediaId: () => string = customAlphabet(base62, 10);

const mediaIdPattern = /^[0-9A-Za-z]{10}$/;
export const mediaIdShape = z.string().regex(mediaIdPattern);

/** Whether `text` has the shape of a media id. */
export function isMediaId(text: string): boolean {
  return mediaIdPattern.test(text);
}
