import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange, StoredObject } from '../object-store.ts';
import { fromStore } from '../store-body.ts';
import type { FileStats } from './durable-file.ts';

/** An object with the tag of its file: modification times are set to the microsecond at the write, and rsync -a and tar keep them. */
export function storedObject(key: string, { size, mtimeNs }: FileStats): StoredObject {
  return { key, size: Number(size), etag: `${size.toString(16)}-${mtimeNs.toString(16)}` };
}

const pieceBytes = 32 * 1024;

// With these flags, opening a file neither waits for the writer of a pipe nor leaves the store through a link.
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A file, with its bytes or a range of them, and their number; undefined if there is no regular file. The stream closes the file. */
export async function openObject(
  path: string,
  range: ByteRange | undefined,
): Promise<{ stats: FileStats; length: number; body: Readable } | undefined> {
  const opened = await fromStore(open(path, flags), 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO');
  if (opened === undefined) return undefined;
  await using held = new AsyncDisposableStack();
  const handle = held.use(opened);
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) return undefined;
  held.move();
  const size = Number(stats.size);
  const { offset, length } = range ?? { offset: 0, length: size };
  const end = Math.min(offset + length, size);
  return { stats, length: Math.max(end - offset, 0), body: streamOf(handle, offset, end) };
}

// The bytes are read only as they are consumed.
function streamOf(handle: FileHandle, offset: number, end: number): Readable {
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
