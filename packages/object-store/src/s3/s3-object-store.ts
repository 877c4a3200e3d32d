import { Readable } from 'node:stream';
import { assertObjectKey, assertPrefix } from '../object-keys.ts';
import { maxListLength, type ObjectStore } from '../object-store.ts';
import { PartMemory } from '../part-memory.ts';
import { partBytes } from '../part-size.ts';
import type { StoreCapabilities } from '../store-capabilities.ts';
import { defaultDeadlines, type StoreDeadlines } from './deadlines.ts';
import { uploadToS3 } from './multipart-upload.ts';
import { type S3Address, S3Bucket } from './s3-bucket.ts';
import { appendToS3, completeOnS3, discardOnS3 } from './staged-upload.ts';

export interface StoreOptions {
  /** The memory that all uploads of the process share. Default: eight parts. */
  readonly memory?: PartMemory | undefined;
  /**
   * Whether the process probes the store before it is ready, before its first conditional write, and again after an outage, or after the store
   * did otherwise than the probe found. Until then, an unconfirmed checksum fails a write. Default: no.
   */
  readonly isStrict?: boolean | undefined;
  /** Gets what each probe finds. */
  readonly onProbed?: ((found: StoreCapabilities) => void) | undefined;
  readonly deadlines?: StoreDeadlines | undefined;
}

/** Stores objects in a bucket of any S3-compatible store. */
export function s3ObjectStore(
  address: S3Address,
  {
    memory = new PartMemory(8 * partBytes),
    isStrict = false,
    onProbed = () => {},
    deadlines = defaultDeadlines,
  }: StoreOptions = {},
): ObjectStore {
  const bucket = new S3Bucket(address, { deadlines, isStrict, onProbed });
  const { objects, conditional, lists } = bucket;
  const stat = async (key: string) => {
    assertObjectKey(key);
    const found = await objects.head(key);
    return found && { key, ...found };
  };
  return {
    rereadMs: bucket.rereadMs,
    async put(
      key,
      source,
      { contentType = 'application/octet-stream', isReplacement = false, sender = key, ...options } = {},
    ) {
      assertObjectKey(key);
      return uploadToS3(bucket, key, source, { memory, contentType, isReplacement, sender, ...options });
    },
    async putIfAbsent(key, bytes) {
      assertObjectKey(key);
      return conditional.putIfAbsent(key, bytes);
    },
    async commit(key, bytes, beforeWrite) {
      assertObjectKey(key);
      return conditional.commit(key, bytes, beforeWrite);
    },
    async read(key, { range, signal, crc32 } = {}) {
      assertObjectKey(key);
      const opened = range?.length === 0 ? 'beyond' : await objects.get(key, { range, signal, crc32 });
      if (opened !== 'beyond') return opened && { key, ...opened };
      const found = await stat(key);
      return found && { ...found, body: Readable.from([]) };
    },
    stat,
    probe: (options) => bucket.probe(options),
    // For MinIO, a list of one object by its whole key costs the same as a HEAD.
    async exists(key) {
      assertObjectKey(key);
      const [first] = await lists.list({ prefix: key, after: '', limit: 1 });
      return first?.key === key;
    },
    async list(prefix, { after = '', limit }) {
      assertPrefix(prefix);
      return limit < 1 ? [] : lists.list({ prefix, after, limit: Math.min(limit, maxListLength) });
    },
    async listKeys(prefix, { after = '', limit, folders = false }) {
      assertPrefix(prefix);
      return limit < 1 ? [] : lists.listKeys({ prefix, after, limit: Math.min(limit, maxListLength) }, folders);
    },
    remove: (key) => bucket.remove(key),
    append: (write, source, options) => appendToS3({ bucket, memory }, write, source, options),
    completeWrite: (write, sender) => completeOnS3({ bucket, memory }, write, sender),
    discardWrite: (write) => discardOnS3(bucket, write),
    listUnfinishedWrites: () => bucket.unfinishedUploads(),
    abortWrite: ({ id, key = '' }) => bucket.abortUpload(key, id),
    clock: () => objects.clock(),
    ready: () => bucket.ready(),
    [Symbol.asyncDispose]: () => bucket[Symbol.asyncDispose](),
  };
}
