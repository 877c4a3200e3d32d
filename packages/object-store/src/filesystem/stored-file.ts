import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange, StoredObject } from '../object-store.ts';
import type { FileStats } from './durable-file.ts';

/** An object with the tag of its file: modification times are set to the microsecond at the write, and rsync -a and tar keep them. */
export function storedObject(key: string, { size, mtimeNs }: FileStats): StoredObject {
  return { key, size: Number(size), etag: `${size.toString(16)}-${mtimeNs.toString(16)}` };
}

const pieceBytes = 32 * 1024;

/** The bytes of a file, or a range of them, read only as they are consumed. The stream closes the file. */
export function openRange(handle: FileHandle, size: number, range: ByteRange | undefined): Readable {
  const { offset, length } = range ?? { offset: 0, length: size };
  const end = Math.min(offset + length, size);
  let position = offset;
  return new Readable({
    // Node's own file streams read ahead, which would double what a slow reader holds.
    highWaterMark: 0,
    read() {
      const wanted = Math.max(Math.min(pieceBytes, end - position), 0);
      const read = wanted > 0 ? handle.read(Buffer.allocUnsafeSlow(wanted), 0, wanted, position) : undefined;
      if (!read) this.push(null);
      else
        read.then(
          ({ bytesRead, buffer }) => {
            position += bytesRead;
            this.push(bytesRead > 0 ? buffer.subarray(0, bytesRead) : null);
          },
          (error) => this.destroy(error),
        );
    },
    destroy(error, done) {
      handle.close().then(() => done(error), done);
    },
  });
}
