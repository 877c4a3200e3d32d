import type { Readable } from 'node:stream';
import type { SourceOptions } from './consume-source.ts';
import type { AppendOptions, StagedWrite } from './staged-write.ts';
import type { ProbeOptions, StoreCapabilities } from './store-capabilities.ts';

export interface StoredObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** The store's opaque tag of exactly these bytes. */
  readonly etag: string;
}

export interface WrittenObject extends StoredObject {
  /** CRC-32 of the bytes as sent, eight hexadecimal digits. */
  readonly crc32: string;
}

export interface ListedObject extends StoredObject {
  /** By the store's clock, at least to the second. */
  readonly writtenAt: Date;
}

/** On S3 a multipart upload, on a filesystem a temporary file. */
export interface UnfinishedWrite {
  /** The store's id of the write. */
  readonly id: string;
  /** The object it writes, if the store reports it. */
  readonly key?: string;
  /** When it began or last continued. */
  readonly writtenAt: Date;
  /** Bytes so far, if the store reports them. */
  readonly size?: number;
}

/** The most objects in one list (S3's limit). */
export const maxListLength = 1000;

/** `length` bytes from `offset`; what reaches beyond the end is cut off. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** A page of a list. */
export interface ListPage {
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface KeyPage extends ListPage {
  /** Lists folders, ending with a slash, in place of the keys below them. After a folder comes what is not in it. */
  readonly folders?: boolean | undefined;
}

export interface PutOptions extends SourceOptions {
  /** Only stored; nothing depends on it. */
  readonly contentType?: string;
  /** It may replace an earlier object, which stays if the write fails. */
  readonly isReplacement?: boolean;
  /** Whose bytes they are: senders share the memory for uploads. Default: one of its own. */
  readonly sender?: string | undefined;
}

export interface ReadOptions {
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
  /** Expected CRC-32 of the whole object (eight hexadecimal digits): another one fails the body at its end. */
  readonly crc32?: string | undefined;
}

export type PutIfAbsentOutcome = 'created' | 'exists' | 'differs';

/** `size` is that of the whole object. `body` must be consumed or destroyed. */
export interface ObjectReading extends StoredObject {
  readonly body: Readable;
}

/** The store is down, hangs past the deadline or responds with nonsense. Nothing is known to have been written. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** The bytes read differ from their checksum: damaged in the store or on the way. */
export class ChecksumMismatch extends StoreUnavailable {}

/** A staged write was discarded, or its bytes are no longer those of its state. */
export class StagedWriteLost extends Error {
  override readonly name = 'StagedWriteLost';
}

/** Other uploads needed the part memory; the store itself is healthy. */
export class CrowdedOut extends StoreUnavailable {
  /** Whether other uploads of its sender took the memory. */
  readonly isOwnShare: boolean;

  constructor(message: string, isOwnShare: boolean) {
    super(message);
    this.isOwnShare = isOwnShare;
  }
}

/**
 * Holds media, records and renditions. Keys come from object-keys.ts only.
 *
 * Every call to S3 ends within the store's deadline (`put`, `append`: one per part), and every call throws StoreUnavailable if the
 * store is at fault. Only `list`, `listKeys`, `exists` and `listUnfinishedWrites` list, and no upload calls these.
 */
export interface ObjectStore extends AsyncDisposable {
  /** How long an object may be missing although it was written, in milliseconds: on a node that has just come back. 0: never. */
  readonly rereadMs: number;

  /**
   * Streams `source` into a new object, with a checksum that S3 verifies. If it fails, nothing remains, except orphaned
   * media if the store cannot be reached for cleanup; after a failed replacement, either the earlier object or the new one exists.
   * @throws the source's error, the signal's reason or StoreUnavailable
   */
  put(key: string, source: Readable, options?: PutOptions): Promise<WrittenObject>;

  /**
   * Writes a small object unless the key exists. A rejection is ambiguous: the object may exist, or may still appear.
   * @returns `differs` if the store reports a tag other than that of `bytes`, which not every store does
   */
  putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome>;

  /**
   * Like `putIfAbsent`, then checks that the object is there: a store may confirm a write and lose it. The commit point of a record.
   * @param beforeWrite awaited immediately before the write; what it throws prevents the write, and is thrown
   */
  commit(key: string, bytes: Buffer, beforeWrite?: () => Promise<void>): Promise<PutIfAbsentOutcome>;

  /** Opens an object or a range of it; undefined if it does not exist. A range beyond the end has an empty body. */
  read(key: string, options?: ReadOptions): Promise<ObjectReading | undefined>;

  /** Undefined if the object does not exist. */
  stat(key: string): Promise<StoredObject | undefined>;

  /**
   * Finds out what the store does, with objects that it removes again, and writes accordingly from then on. Needs permission to write and remove
   * media; what needs permission to read it is skipped without.
   * @throws StoreUnavailable, with the reason if the store cannot be used
   */
  probe(options?: ProbeOptions): Promise<StoreCapabilities>;

  /** Whether an object exists. On S3 this needs only permission to list its key, not to read it. */
  exists(key: string): Promise<boolean>;

  /**
   * At most `limit` (up to 1000) objects after the key `after`, in byte order of their keys; fewer if these are all. `prefix` ends
   * with a slash. Concurrent writes and removals may be missing.
   */
  list(prefix: string, page: ListPage): Promise<ListedObject[]>;

  /** Like `list`, but only the keys, which on a filesystem costs a tenth. */
  listKeys(prefix: string, page: KeyPage): Promise<string[]>;

  /** Removes an object, if it exists. `key` may be one of another application, as `list` returned it. */
  remove(key: string): Promise<void>;

  /**
   * Adds the bytes of `source` to a staged write, whose object appears with `completeWrite`. Only one call at a time may add to it. If the source
   * or the signal ends it early, the bytes until then are kept. Memory: at most one part.
   * @throws the source's error, the signal's reason, the error of `save`, StagedWriteLost or StoreUnavailable
   */
  append(write: StagedWrite, source: Readable, options: AppendOptions): Promise<void>;

  /**
   * Makes the object of a staged write. It may be called again with the same state, also after it succeeded. `sender`: see PutOptions.
   * @throws StagedWriteLost, StoreUnavailable
   */
  completeWrite(write: StagedWrite, sender?: string): Promise<WrittenObject>;

  /** Removes what a staged write has stored; a finished object stays. */
  discardWrite(write: StagedWrite): Promise<void>;

  /** Writes of all processes, running or interrupted, that the store reports (MinIO: those since its start). */
  listUnfinishedWrites(): AsyncIterable<UnfinishedWrite>;

  /** Discards an unfinished write; a finished one stays. */
  abortWrite(write: UnfinishedWrite): Promise<void>;

  /** The time by the clock of `writtenAt`, to the second. */
  clock(): Promise<Date>;

  /** Checks that the store responds, and can be used by this process; creates a missing bucket or directory. @throws StoreUnavailable */
  ready(): Promise<void>;
}
