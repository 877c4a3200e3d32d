import { Readable } from 'node:stream';
import type { ByteRange, StoredObject } from '@echodrop/object-store/object-store';
import { maxSharedBytes, type ObjectSources, readShared } from '../find/find-object.ts';

interface Source extends ObjectSources {
  readonly object: StoredObject;
  /** Aborted when the reader leaves. */
  readonly signal: AbortSignal;
}

const pieceBytes = 32 * 1024;

/**
 * Opens a range of an object whose bytes readers share. Undefined if it is too large, no longer exists or was replaced, or if responses use
 * too many bytes. The stream counts as a user of the bytes until it is closed. @throws StoreUnavailable, or the signal's reason
 */
export async function openShared(
  { object, signal, ...sources }: Source,
  { offset, length }: ByteRange,
): Promise<Readable | undefined> {
  const leave = object.size <= maxSharedBytes ? sources.memory.inUse.enter(object) : undefined;
  if (!leave) return undefined;
  try {
    const bytes = await readShared(object, sources, signal);
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
