import { lstat, opendir } from 'node:fs/promises';
import { setInterval } from 'node:timers/promises';

// The unit of stat's `blocks` on every filesystem.
const sectorBytes = 512;
// An empty file takes at least so many bytes.
const inodeBytes = 256;
// A tool makes a dozen files.
const maxFiles = 100;
const blockBytes = 4096;
const watchMs = 500;
const missing = { blocks: 0, size: 0 };

/**
 * Watches what a tool writes into `folder` until it is disposed of, and calls `exceeded` if that is more than `maxBytes`, or
 * too many files: the kernel limits the size of each file, but not their number.
 */
export function watchFolder(folder: string, maxBytes: number, exceeded: () => void): Disposable {
  const stop = new AbortController();
  const watch = async () => {
    for await (const _ of setInterval(watchMs, undefined, { signal: stop.signal, ref: false })) {
      // If the folder cannot be read, the next look decides.
      if (await exceedsLimit(folder, maxBytes).catch(() => false)) exceeded();
    }
  };
  // The pause rejects when the watch is disposed of.
  watch().catch(() => {});
  return { [Symbol.dispose]: () => stop.abort() };
}

/** Whether the files of a folder use more than `maxBytes` of the disk, or are too many. */
export async function exceedsLimit(folder: string, maxBytes: number): Promise<boolean> {
  let bytes = 0;
  let files = 0;
  // A tool may choose names that are not UTF-8: a decoded name would be that of no file.
  for await (const { name } of await opendir(folder, { encoding: 'buffer' as BufferEncoding })) {
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
    const { blocks, size } = await lstat(path).catch(() => missing);
    // A sparse file uses less than its size. XFS preallocates more for a growing file.
    bytes += inodeBytes + Math.min(blocks * sectorBytes, size + blockBytes);
    files += 1;
    if (bytes > maxBytes || files > maxFiles) return true;
  }
  return false;
}
