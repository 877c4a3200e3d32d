/** Who uploaded: exact to 64 bits, and the name at the identity provider. */
export interface RecordUser {
  readonly id: bigint;
  readonly screenName: string;
}

/** The record: what docs/interface.md section 2 lets a client see of an upload. */
export interface MediaRecord {
  readonly id: string;
  readonly text: string;
  readonly url: string;
  /** As displayed, in pixels. */
  readonly width: number;
  /** As displayed, in pixels. */
  readonly height: number;
  /** Bytes of the uploaded file. */
  readonly size: number;
  /** A short name from the closed list in docs/media.md: `jpg`, `mp4`, ... */
  readonly type: string;
  readonly timestamp: Date;
  readonly user: RecordUser;
}

/** Some of many records. `next` is the cursor of the page after it; without one this is the last. */
export interface RecordPage<R = MediaRecord> {
  readonly records: readonly R[];
  readonly next?: string | undefined;
}

/** Everything that is kept about an upload. The page's address follows from the site's and is not kept. */
export interface StoredRecord extends Omit<MediaRecord, 'url'> {
  readonly mediaKey: string;
  /** The store's tag of the media's bytes. */
  readonly etag: string;
  /** Of the media's bytes as they came: eight hexadecimal digits. Records of earlier releases have none. */
  readonly crc32?: string | undefined;
  /** Whose it is: the provider's advertised address and the subject as the provider sent it. `user.id` alone means nothing. */
  readonly provider: string;
  readonly subject: string;
  /** The name that the operator gave to the API key. */
  readonly application: string;
}

/** The record of docs/interface.md section 2, its page below `publicSite` (an address without a slash at its end). */
export function publicRecord(stored: StoredRecord, publicSite: string): MediaRecord {
  const { id, text, width, height, size, type, timestamp, user } = stored;
  return { id, text, url: `${publicSite}/${id}`, width, height, size, type, timestamp, user };
}
