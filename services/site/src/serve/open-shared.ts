import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ByteRange, StoredObject } from '@echodrop/object-store/object-store';
import type { MediaSources } from '../find/find-media.ts';

export type ObjectSources = Pick<MediaSources, 'store' | 'memory' | 'signal'>;

/** The largest object whose bytes are remembered. */
export const maxSharedBytes = 512 * 1024;

const pieceBytes = 32 * 1024;

/** The bytes of an object; undefined if it no longer exists, or was replaced. Readers share them. @throws StoreUnavailable, or the signal's reason */
export function readShared(
  { key, etag }: StoredObject,
  { store, memory, signal }: ObjectSources,
): Promise<Buffer | undefined> | Buffer | undefined {
  const read = async (cancelled: AbortSignal) => {
    const reading = await store.read(key, { signal: cancelled });
    if (reading?.etag === etag) return buffer(reading.body);
    reading?.body.destroy();
    return undefined;
  };
  return memory.find(`bytes ${etag} ${key}`, signal, read, (bytes) => bytes?.length);
}

/**
 * Opens a range of an object whose bytes readers share. Undefined if it is too large, no longer exists or was replaced, or if responses use
 * too many bytes. The stream counts as a user of the bytes until it is closed. @throws StoreUnavailable, or the signal's reason
 */
export async function openShared(
  object: StoredObject,
  sources: ObjectSources,
  { offset, length }: ByteRange,
): Promise<Readable | undefined> {
  const leave = object.size <= maxSharedBytes ? sources.memory.inUse.enter(object) : undefined;
  if (!leave) return undefined;
  try {
    const bytes = await readShared(object, sources);
    if (bytes) return Readable.from(piecesOf(bytes.subarray(offset, offset + length))).once('close', leave);
  } catch (error) {
    leave();
    throw error;
  }
  leave();
  return undefined;
}

/** Copies: a reader who pauses keeps a piece, and must not keep all bytes with it. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += pieceBytes) {
    const piece = bytes.subarray(offset, offset + pieceBytes);
    const copy = Buffer.allocUnsafeSlow(piece.length);
    piece.copy(copy);
    yield copy;
  }
}
