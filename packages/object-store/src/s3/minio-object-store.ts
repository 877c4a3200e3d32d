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
import { MinioBucket, type S3Address } from './minio-bucket.ts';
import { uploadToS3 } from './s3-upload.ts';
import { defaultDeadlines, type StoreDeadlines } from './store-deadlines.ts';

interface Means {
  /** What all uploads of the process share; eight parts where nothing is said. */
  readonly memory?: PartMemory | undefined;
  readonly deadlines?: StoreDeadlines | undefined;
}

/** The store on MinIO, or on anything else that speaks S3 with conditional writes. Plain S3 calls only. */
export class MinioObjectStore implements ObjectStore {
  readonly #bucket: MinioBucket;
  readonly #memory: PartMemory;

  constructor(
    address: S3Address,
    { memory = new PartMemory(8 * partBytes), deadlines = defaultDeadlines }: Means = {},
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
    return this.#bucket.data.putIfAbsent(key, bytes);
  }

  async read(key: string, { range, signal, crc32 }: ReadOptions = {}): Promise<ObjectReading | undefined> {
    assertObjectKey(key);
    if (range?.length === 0) return this.#readNothing(key);
    const incoming = await this.#bucket.data.get(key, { range: range && rangeHeader(range), signal, crc32 });
    if (incoming === 'beyond') return this.#readNothing(key);
    return incoming && { key, ...incoming };
  }

  async stat(key: string): Promise<StoredObject | undefined> {
    assertObjectKey(key);
    const found = await this.#bucket.data.head(key);
    return found && { key, ...found };
  }

  async supportsChecksums(): Promise<boolean> {
    const key = mediaObjectKey(newMediaKey());
    const compares = await this.#bucket.data.supportsChecksums(key);
    if (!compares) await this.#bucket.remove(key);
    return compares;
  }

  // MinIO looks up a list of one whose prefix is a whole key as it does a HEAD.
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

  unfinished(): AsyncIterable<UnfinishedWrite> {
    return this.#bucket.unfinishedUploads();
  }

  async abandon({ id, key = '' }: UnfinishedWrite): Promise<void> {
    assertObjectKey(key);
    await this.#bucket.abortUpload(key, id);
  }

  async clock(): Promise<Date> {
    return this.#bucket.data.clock();
  }

  async ready(): Promise<void> {
    await this.#bucket.ensure();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bucket[Symbol.asyncDispose]();
  }

  // A Range header cannot ask for no bytes.
  async #readNothing(key: string): Promise<ObjectReading | undefined> {
    const found = await this.stat(key);
    return found && { ...found, body: Readable.from([]) };
  }
}

function rangeHeader({ offset, length }: ByteRange): string {
  return `bytes=${offset}-${offset + length - 1}`;
}
