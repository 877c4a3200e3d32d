import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';

// Of stat's `blocks`, whatever the filesystem's own are.
const sectorBytes = 512;
// What an empty file takes, at least.
const inodeBytes = 256;
// A tool makes a dozen.
const maxFiles = 100;
const blockBytes = 4096;
const watchMs = 500;
const nothing = { blocks: 0, size: 0 };

/**
 * Watches what a tool writes into `folder` until it is disposed of, and calls `exceeded` if that is more than `maxBytes`, or many files: limits of
 * the kernel bound each file, and not their number.
 */
export function watchFolder(folder: string, maxBytes: number, exceeded: () => void): Disposable {
  const over = new AbortController();
  const watch = async () => {
    for await (const _ of setInterval(watchMs, undefined, { signal: over.signal, ref: false })) {
      // A folder that cannot be read for a moment is looked at again.
      if (await holdsMore(folder, maxBytes).catch(() => false)) exceeded();
    }
  };
  // It ends with its signal.
  watch().catch(() => {});
  return { [Symbol.dispose]: () => over.abort() };
}

/** Whether the files of a folder take more than `maxBytes` on the disk, or are more than tools make. */
export async function holdsMore(folder: string, maxBytes: number): Promise<boolean> {
  let [bytes, files] = [0, 0];
  for await (const { name } of await opendir(folder)) {
    const { blocks, size } = await lstat(join(folder, name)).catch(() => nothing);
    // Of sparse files less than their size lies on the disk. XFS counts more for a file that grows.
    bytes += inodeBytes + Math.min(blocks * sectorBytes, size + blockBytes);
    files += 1;
    if (bytes > maxBytes || files > maxFiles) return true;
  }
  return false;
}
