import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Checksum } from '../checksum.ts';
import {
  ChecksumMismatch,
  CrowdedOut,
  StagedWriteLost,
  StoreUnavailable,
  type WrittenObject,
} from '../object-store.ts';
import type { PartMemory } from '../part-memory.ts';
import type { AppendOptions, StagedWrite } from '../staged-write.ts';
import { fillParts } from './fill-parts.ts';
import type { MinioBucket } from './minio-bucket.ts';
import { NotStored } from './object-requests.ts';
import { PartsLost } from './store-response.ts';
import { UploadPart } from './upload-part.ts';

// S3 refuses smaller parts, except the last.
const minPartBytes = 5 * 1024 * 1024;

interface Staging {
  readonly bucket: MinioBucket;
  readonly memory: PartMemory;
}

/** `ObjectStore.append`: full parts of a multipart upload, and an object with the rest, the tail, which the next call reads. */
export async function appendToS3(
  { bucket, memory }: Staging,
  write: StagedWrite,
  source: Readable,
  { signal, newTailKey, save, verify }: AppendOptions,
): Promise<void> {
  using part = new UploadPart(memory, (reason) => source.destroy(reason), checksumBefore(write));
  let [staged, saved] = [write, write];
  const keep = async () => {
    if (staged === saved) return;
    await save(staged);
    const { tail } = saved;
    saved = staged;
    // What remains is removed with the other objects of the upload.
    if (tail) await bucket.remove(tail.key).catch(() => {});
  };
  const advance = async (to: Omit<StagedWrite, 'size' | 'crc32'>, added: number) => {
    staged = { ...to, size: staged.size - (staged.tail?.size ?? 0) + added, crc32: part.checksumOfAll.hex };
    if (!verify) await keep();
  };
  const sendPart = async () => {
    const { tail: _, ...before } = staged;
    const id = before.id ?? (await bucket.multipart.create(write.key, write.contentType));
    const query = { uploadId: id, partNumber: `${before.parts.length + 1}` };
    const etag = await toLost(bucket.objects.put(write.key, part, { query }));
    const [{ size }, added] = [part, { etag, crc32: part.checksum.base64 }];
    part.empty();
    await advance({ ...before, id, parts: [...before.parts, added] }, size);
  };
  const hasRest = () => part.size !== (staged.tail?.size ?? 0);
  const sendTail = async () => {
    const key = newTailKey();
    await bucket.objects.put(key, part);
    const before = staged.tail?.before ?? staged.crc32;
    await advance({ ...staged, tail: { key, size: part.size, before } }, part.size);
  };
  // What no state names. A further part of a saved upload is overwritten by the next one.
  const dropUnsaved = async () => {
    const { id, tail } = staged;
    if (id !== undefined && id !== saved.id) await bucket.abortUpload(write.key, id);
    if (tail && tail.key !== saved.tail?.key) await bucket.remove(tail.key);
  };
  try {
    await readTail(bucket, staged, part);
    await fillParts(source, part, { signal, sendFull: sendPart });
    if (hasRest()) await (part.size < minPartBytes ? sendTail() : sendPart());
    verify?.();
  } catch (error) {
    // Of a lost connection, what has arrived. As a tail: another process may have continued, whose part it would overwrite.
    const isStoreAtFault = error instanceof StoreUnavailable || error instanceof StagedWriteLost;
    if (verify) await dropUnsaved().catch(() => {});
    else if ((!isStoreAtFault || error instanceof CrowdedOut) && hasRest()) await sendTail().catch(() => {});
    part.empty({ hasFailed: true });
    throw error;
  }
  await keep();
}

/** `ObjectStore.completeWrite`: the tail is the last part, or the whole object. */
export async function completeOnS3({ bucket, memory }: Staging, write: StagedWrite): Promise<WrittenObject> {
  using part = new UploadPart(memory, () => {}, checksumBefore(write));
  await readTail(bucket, write, part);
  // MinIO's tag of a part is its MD5.
  const tailTag = () => hash('md5', Buffer.concat([...part.bytes()]));
  const complete = () =>
    write.id === undefined
      ? bucket.objects.put(write.key, part, { contentType: write.contentType })
      : completeParts(bucket, write, write.id, part);
  const etag = await complete().catch((error) => {
    // An earlier call may have completed it.
    if (error instanceof PartsLost) return joinedTag(write, part.size > 0 ? [tailTag()] : []);
    part.empty({ hasFailed: true });
    throw error;
  });
  await requireStored(bucket, write.key, etag);
  return { key: write.key, size: write.size, etag, crc32: write.crc32 };
}

/** `ObjectStore.discardWrite`. */
export async function discardOnS3(bucket: MinioBucket, { key, id, tail }: StagedWrite): Promise<void> {
  if (id !== undefined) await bucket.abortUpload(key, id);
  if (tail) await bucket.remove(tail.key);
}

/** @returns the object's tag */
async function completeParts(
  bucket: MinioBucket,
  { key, crc32, parts: earlier }: StagedWrite,
  uploadId: string,
  last: UploadPart,
): Promise<string> {
  const parts = [...earlier];
  if (last.size > 0) {
    const query = { uploadId, partNumber: `${parts.length + 1}` };
    parts.push({ etag: await bucket.objects.put(key, last, { query }), crc32: last.checksum.base64 });
  }
  return bucket.multipart.complete(key, uploadId, parts, new Checksum(crc32).base64);
}

// The sweep removes the empty object that may remain.
async function requireStored(bucket: MinioBucket, key: string, etag: string): Promise<void> {
  try {
    await bucket.objects.requireStored(key, etag);
  } catch (error) {
    if (!(error instanceof NotStored)) throw error;
    throw new StagedWriteLost('the store no longer has the parts of this write', { cause: error });
  }
}

/** The tag that S3 and MinIO give an object of these parts, if their tags are MD5. */
function joinedTag({ parts }: StagedWrite, further: string[]): string {
  const tags = [...parts.map(({ etag }) => etag), ...further];
  return `${hash('md5', Buffer.from(tags.join(''), 'hex'))}-${tags.length}`;
}

async function readTail(bucket: MinioBucket, { tail, crc32 }: StagedWrite, part: UploadPart): Promise<void> {
  if (!tail) return;
  const reading = await bucket.objects.get(tail.key, {});
  if (reading === undefined || reading === 'beyond')
    throw new StagedWriteLost('the store no longer has the tail of this write');
  const sendFull = () => Promise.reject(new StagedWriteLost('the tail of this write has grown'));
  await fillParts(reading.body, part, { signal: undefined, sendFull });
  if (part.size !== tail.size || part.checksumOfAll.hex !== crc32)
    throw new ChecksumMismatch('the tail of a write differs from its checksum');
}

function checksumBefore({ crc32, tail }: StagedWrite): Checksum {
  return new Checksum(tail?.before ?? crc32);
}

async function toLost<T>(request: Promise<T>): Promise<T> {
  return request.catch((error) => {
    throw error instanceof PartsLost
      ? new StagedWriteLost('the store no longer has the parts of this write', { cause: error })
      : error;
  });
}
