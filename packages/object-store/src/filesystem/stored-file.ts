import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange, StoredObject } from '../object-store.ts';
import type { FileStats } from './durable-file.ts';

/** An object with the tag of its file: modification times are set to the microsecond at the write, and rsync -a and tar keep them. */
export function storedObject(key: string, { size, mtimeNs }: FileStats): StoredObject {
  return { key, size: Number(size), etag: `${size.toString(16)}-${mtimeNs.toString(16)}` };
}

/** The bytes of a file, or a range of them. The stream closes the file. */
export async function openRange(handle: FileHandle, size: number, range: ByteRange | undefined): Promise<Readable> {
  const { offset: start, length } = range ?? { offset: 0, length: size };
  const end = Math.min(start + length, size) - 1;
  if (end >= start) return handle.createReadStream({ start, end });
  await handle.close();
  return Readable.from([]);
}
