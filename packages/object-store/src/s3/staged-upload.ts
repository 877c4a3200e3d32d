import type { Readable } from 'node:stream';
import { Checksum } from '../checksum.ts';
import { CrowdedOut, StagedWriteLost, StoreUnavailable, type WrittenObject } from '../object-store.ts';
import type { PartMemory } from '../part-memory.ts';
import { partBytes } from '../part-size.ts';
import type { AppendOptions, StagedWrite } from '../staged-write.ts';
import { NotStored, type UnconfirmedObject } from './conditional-writes.ts';
import { fillParts } from './fill-parts.ts';
import { PartBuffer } from './part-buffer.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { OtherPartsJoined, PartsLost } from './store-response.ts';
import { checksumBefore, readTails, sizeOf, type Tails, tailsOnlyIn } from './tails.ts';
import { md5Of } from './write-rules.ts';

// Each tail costs a read. With a lower maximum, a client that sends little at a time would cause more rewrites.
const maxTails = 16;

interface Staging {
  readonly bucket: S3Bucket;
  readonly memory: PartMemory;
}

/**
 * `ObjectStore.append`: full parts of a multipart upload, and objects with the rest, the tails. Tails are read only when a part can be made of them,
 * or when they are too many: a call that brings few bytes causes few requests.
 */
export async function appendToS3(
  { bucket, memory }: Staging,
  write: StagedWrite,
  source: Readable,
  { sender = write.key, newTailKey, save, verify, ...options }: AppendOptions,
): Promise<void> {
  const holder = { sender, crowdOut: (reason: CrowdedOut) => void source.destroy(reason) };
  using part = new PartBuffer(memory, holder, new Checksum(write.crc32), sizeOf(write.tails));
  let staged = write;
  let saved = write;
  // The tails whose bytes are in the buffer: all or none.
  let held: Tails = [];
  const keep = async () => {
    if (staged === saved) return;
    await save(staged);
    const replaced = tailsOnlyIn(saved, staged);
    saved = staged;
    // What remains is removed with the other objects of the upload.
    await Promise.allSettled(replaced.map(({ key }) => bucket.remove(key)));
  };
  /** Adds `added` bytes to those before the buffer, in a part or in `tails`. */
  const advance = async (to: Pick<StagedWrite, 'id' | 'parts'>, tails: Tails, added: number) => {
    const kept = staged.tails.slice(0, staged.tails.length - held.length);
    const size = staged.size - sizeOf(held) + added;
    staged = { ...staged, ...to, tails: [...kept, ...tails], size, crc32: part.checksumOfAll.hex };
    held = tails;
    if (!verify) await keep();
  };
  const joinTails = async () => {
    const { tails } = staged;
    if (tails.length === held.length) return;
    await part.fillBefore(checksumBefore(staged, tails), () => readTails(bucket, tails, part, staged));
    held = tails;
  };
  const sendPart = async () => {
    await joinTails();
    const id = staged.id ?? (await bucket.multipart.create(write.key, write.contentType));
    const added = await toLost(bucket.multipart.putPart(write.key, id, staged.parts.length + 1, part));
    const { size } = part;
    part.empty();
    await advance({ id, parts: [...staged.parts, added] }, [], size);
  };
  const hasRest = () => part.size !== sizeOf(held);
  const sendTail = async () => {
    if (staged.tails.length >= maxTails) await joinTails();
    const tail = { key: newTailKey(), size: part.size, before: held[0]?.before ?? staged.crc32 };
    await bucket.objects.put(tail.key, part);
    await advance({ parts: staged.parts }, [tail], part.size);
  };
  // Cloudflare R2 refuses parts of different sizes, except the last.
  const isWholePart = () => sizeOf(staged.tails) - sizeOf(held) + part.size === partBytes;
  // Removes what no saved state names. An extra part of a saved upload may stay: the next one overwrites it.
  const dropUnsaved = async () => {
    const { id } = staged;
    if (id !== undefined && id !== saved.id) await bucket.abortUpload(write.key, id);
    for (const { key } of tailsOnlyIn(staged, saved)) await bucket.remove(key);
  };
  try {
    await fillParts(source, part, { ...options, sendFull: sendPart });
    // Before the rest is stored: a wrong checksum costs the store nothing more.
    verify?.();
    if (hasRest()) await (isWholePart() ? sendPart() : sendTail());
  } catch (error) {
    // After a lost connection, keeps what arrived. As a tail, not as a part: it could overwrite the part of a process that continued.
    const isStoreAtFault = error instanceof StoreUnavailable || error instanceof StagedWriteLost;
    if (verify) await dropUnsaved().catch(() => {});
    else if ((!isStoreAtFault || error instanceof CrowdedOut) && hasRest()) await sendTail().catch(() => {});
    part.empty({ hasFailed: true });
    throw error;
  }
  await keep();
}

/** `ObjectStore.completeWrite`: the tails are the last part, or the whole object. */
export async function completeOnS3(
  { bucket, memory }: Staging,
  write: StagedWrite,
  sender = write.key,
): Promise<WrittenObject> {
  using part = new PartBuffer(memory, { sender, crowdOut() {} }, checksumBefore(write, write.tails));
  await readTails(bucket, write.tails, part, write);
  const tags = write.parts.map(({ etag }) => etag);
  const lastTags = part.size > 0 ? [md5Of([...part.bytes()]).toString('hex')] : [];
  const complete = () =>
    write.id === undefined
      ? bucket.objects.put(write.key, part, { contentType: write.contentType })
      : completeParts(bucket, write, write.id, part);
  const etag = await complete().catch((error) => {
    // An earlier call may have completed it.
    if (error instanceof PartsLost) return bucket.multipart.tagOf([...tags, ...lastTags]);
    part.empty({ hasFailed: true });
    throw error instanceof OtherPartsJoined ? new StagedWriteLost('a part was replaced', { cause: error }) : error;
  });
  const { key, size, crc32 } = write;
  const parts = write.id === undefined ? 1 : tags.length + lastTags.length;
  return { key, size, etag: await requireStored(bucket, key, { etag, size, parts }), crc32 };
}

/** `ObjectStore.discardWrite`. */
export async function discardOnS3(bucket: S3Bucket, { key, id, tails }: StagedWrite): Promise<void> {
  if (id !== undefined) await bucket.abortUpload(key, id);
  for (const tail of tails) await bucket.remove(tail.key);
}

/** @returns the object's tag */
async function completeParts(
  bucket: S3Bucket,
  { key, crc32, parts: earlier }: StagedWrite,
  uploadId: string,
  last: PartBuffer,
): Promise<string> {
  const parts = [...earlier];
  if (last.size > 0) parts.push(await bucket.multipart.putPart(key, uploadId, parts.length + 1, last));
  return bucket.multipart.complete(key, uploadId, parts, new Checksum(crc32).base64);
}

// The sweep removes the empty object that may remain.
async function requireStored(bucket: S3Bucket, key: string, written: UnconfirmedObject): Promise<string> {
  try {
    return await bucket.conditional.requireStored(key, written);
  } catch (error) {
    if (!(error instanceof NotStored)) throw error;
    throw new StagedWriteLost('the store no longer has the parts of this write', { cause: error });
  }
}

async function toLost<T>(request: Promise<T>): Promise<T> {
  return request.catch((error) => {
    throw error instanceof PartsLost
      ? new StagedWriteLost('the store no longer has the parts of this write', { cause: error })
      : error;
  });
}
