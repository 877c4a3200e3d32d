import type { Readable } from 'node:stream';

/** What a store says of an object: bytes as counted, and the store's own opaque tag for exactly these bytes. */
export interface StoredObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
}

/** An object that was written, and the CRC-32 of its bytes as they were sent (eight hexadecimal digits). */
export interface WrittenObject extends StoredObject {
  readonly crc32: string;
}

/** An object as a listing tells of it. */
export interface ListedObject extends StoredObject {
  /** By the store's clock, to the second at least. */
  readonly writtenAt: Date;
}

/** A write that has not come to its end: on S3 a multipart upload, on a filesystem a temporary file. */
export interface UnfinishedWrite {
  /** The store's own name of it. */
  readonly id: string;
  /** The object that it is to be, where the store knows. */
  readonly key?: string;
  /** When it was begun, or last went on. */
  readonly writtenAt: Date;
  /** Bytes that are there, where the store tells. */
  readonly size?: number;
}

/** The most that one call lists (S3's own limit). */
export const maxListLength = 1000;

/** `length` bytes from `offset`; a range that reaches beyond the end is cut there. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** How an object is written. */
export interface PutOptions {
  readonly signal?: AbortSignal;
  readonly contentType?: string;
  /** Whether it may replace an earlier object, which a failed write then leaves in place. */
  readonly isReplacement?: boolean;
}

/** What is read of an object. */
export interface ReadOptions {
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
  /** The CRC-32 that a whole object must have (eight hexadecimal digits): the body fails at its end if it has another. */
  readonly crc32?: string | undefined;
}

/** What a conditional write has found or done. */
export type PutIfAbsentOutcome = 'created' | 'exists' | 'differs';

/** An object being read. `size` is that of the whole object; `body` gives the range's bytes and must be consumed or destroyed. */
export interface ObjectReading extends StoredObject {
  readonly body: Readable;
}

/** The store could not do it now: down, hanging past the deadline, or answering nonsense. Nothing is known to have been written. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The bytes that the store gave differ from their checksum: they are damaged there, or were on their way here. */
export class ChecksumMismatch extends StoreUnavailable {}

/** The memory for uploads was needed by faster ones; the store itself is well. */
export class CrowdedOut extends StoreUnavailable {}

/**
 * Where media, records and renditions lie. Keys come from object-keys.ts only.
 *
 * Every call to MinIO ends within the store's deadline (for `put`: it starts anew with each part that the source fills), and
 * every call fails with StoreUnavailable where the store is at fault. No calls but `list`, `exists` and `unfinished` ever list, and no upload calls them.
 */
export interface ObjectStore extends AsyncDisposable {
  /**
   * Streams `source` into a new object. When the source fails, or `signal` aborts, or the store does, nothing of it
   * remains (or, where the store cannot be reached to clean up, an orphan for the sweeper) and the promise rejects with the source's own error,
   * the signal's reason or StoreUnavailable. S3 has compared each part with its checksum. `contentType` is what the store itself notes; nobody relies on it.
   * If a replacement fails, either the earlier object or the new one is there.
   */
  put(key: string, source: Readable, options?: PutOptions): Promise<WrittenObject>;

  /**
   * Writes a small object only where none of that key exists (the commit point of a record). A rejection is ambiguous:
   * the object may have been written, or may yet be.
   * @returns `differs` if the store names what is there by another tag than that of `bytes`, which not every store does
   */
  putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome>;

  /** Opens an object, or a range of it; undefined when there is none. A range that begins at or beyond the end gives an empty body. */
  read(key: string, options?: ReadOptions): Promise<ObjectReading | undefined>;

  /** Size and tag without the bytes; undefined when there is no such object. */
  stat(key: string): Promise<StoredObject | undefined>;

  /** Whether the store refuses bytes that changed on their way to it. Takes the right to write and remove media. */
  supportsChecksums(): Promise<boolean>;

  /** Whether there is such an object, for those who may not read it: on S3 this takes the right to list its key alone. */
  exists(key: string): Promise<boolean>;

  /**
   * At most `limit` (up to 1000) objects whose keys begin with `prefix`, which ends with a slash, and come after `after` in the
   * order of their bytes; fewer mean that there are no more. What is written or removed meanwhile may be in it or not.
   */
  list(prefix: string, page: { after?: string | undefined; limit: number }): Promise<ListedObject[]>;

  /** Removes an object; one that is not there is removed already. */
  remove(key: string): Promise<void>;

  /** The writes of all processes that run or were cut short, as far as the store tells of them (MinIO: of those since its start). */
  unfinished(): AsyncIterable<UnfinishedWrite>;

  /** Takes a write back for good; one that has ended by itself stays as it ended. */
  abandon(write: UnfinishedWrite): Promise<void>;

  /** What time it is by the clock that `writtenAt` is told by, to the second. */
  clock(): Promise<Date>;

  /** Resolves when the store answers and the bucket or directory is there (it is made when missing); rejects with StoreUnavailable. */
  ready(): Promise<void>;
}
