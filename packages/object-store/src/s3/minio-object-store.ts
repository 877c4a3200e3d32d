import { Readable } from 'node:stream';
import { assertObjectKey, assertPrefix, mediaObjectKey, newMediaKey } from '../object-keys.ts';
import {
  type ByteRange,
  type ListedObject,
  maxListLength,
  type ObjectReading,
  type ObjectStore,
  type PutIfAbsentOutcome,
  type PutOptions,
  type ReadOptions,
  type StoredObject,
  type UnfinishedWrite,
  type WrittenObject,
} from '../object-store.ts';
import { PartMemory, partBytes } from '../part-memory.ts';
import { defaultDeadlines, type StoreDeadlines } from './deadlines.ts';
import { MinioBucket, type S3Address } from './minio-bucket.ts';
import { uploadToS3 } from './s3-upload.ts';

interface Options {
  /** Shared by all uploads of the process; default: eight parts. */
  readonly memory?: PartMemory | undefined;
  readonly deadlines?: StoreDeadlines | undefined;
}

/** Stores objects in MinIO, or in any S3 store with conditional writes. */
export class MinioObjectStore implements ObjectStore {
  readonly #bucket: MinioBucket;
  readonly #memory: PartMemory;

  constructor(
    address: S3Address,
    { memory = new PartMemory(8 * partBytes), deadlines = defaultDeadlines }: Options = {},
  ) {
    this.#bucket = new MinioBucket(address, deadlines);
    this.#memory = memory;
  }

  async put(
    key: string,
    source: Readable,
    { signal, contentType = 'application/octet-stream', isReplacement = false }: PutOptions = {},
  ): Promise<WrittenObject> {
    assertObjectKey(key);
    return uploadToS3(this.#bucket, key, source, { memory: this.#memory, signal, contentType, isReplacement });
  }

  async putIfAbsent(key: string, bytes: Buffer): Promise<PutIfAbsentOutcome> {
    assertObjectKey(key);
    return this.#bucket.objects.putIfAbsent(key, bytes);
  }

  async read(key: string, { range, signal, crc32 }: ReadOptions = {}): Promise<ObjectReading | undefined> {
    assertObjectKey(key);
    if (range?.length === 0) return this.#readEmpty(key);
    const opened = await this.#bucket.objects.get(key, { range: range && rangeHeader(range), signal, crc32 });
    if (opened === 'beyond') return this.#readEmpty(key);
    return opened && { key, ...opened };
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    assertObjectKey(key);
    const found = await this.#bucket.objects.head(key);
    return found && { key, ...found };
  }

  async supportsChecksums(): Promise<boolean> {
    const key = mediaObjectKey(newMediaKey());
    const supports = await this.#bucket.objects.supportsChecksums(key);
    if (!supports) await this.#bucket.remove(key);
    return supports;
  }

  // For MinIO, a list of one object by its whole key costs the same as a HEAD.
  async exists(key: string): Promise<boolean> {
    assertObjectKey(key);
    const [first] = await this.#bucket.list(key, '', 1);
    return first?.key === key;
  }

  async list(prefix: string, { after, limit }: { after?: string | undefined; limit: number }): Promise<ListedObject[]> {
    assertPrefix(prefix);
    return limit < 1 ? [] : this.#bucket.list(prefix, after ?? '', Math.min(limit, maxListLength));
  }

  async remove(key: string): Promise<void> {
    assertObjectKey(key);
    await this.#bucket.remove(key);
  }

  listUnfinishedWrites(): AsyncIterable<UnfinishedWrite> {
    return this.#bucket.unfinishedUploads();
  }

  async abortWrite({ id, key = '' }: UnfinishedWrite): Promise<void> {
    assertObjectKey(key);
    await this.#bucket.abortUpload(key, id);
  }

  async clock(): Promise<Date> {
    return this.#bucket.objects.clock();
  }

  async ready(): Promise<void> {
    await this.#bucket.ensureExists();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bucket[Symbol.asyncDispose]();
  }

  // A Range header cannot name an empty range.
  async #readEmpty(key: string): Promise<ObjectReading | undefined> {
    const found = await this.stat(key);
    return found && { ...found, body: Readable.from([]) };
  }
}

function rangeHeader({ offset, length }: ByteRange): string {
  return `bytes=${offset}-${offset + length - 1}`;
}
