import { access, lstat, opendir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailed, ToolStopped } from './bounded-process.ts';

const minFreeBytes = 1024 * 1024;
// Of stat's `blocks`, whatever the filesystem's own are.
const sectorBytes = 512;
// What an empty file takes, at least.
const inodeBytes = 256;

/** Tools report a missing file as broken. @throws ToolFailed if it is missing; `reader` names the tool */
export async function requireSource(path: string, reader: string): Promise<void> {
  await access(path).catch((cause: unknown) => {
    throw new ToolFailed(`what ${reader} was to read is gone`, { cause });
  });
}

/**
 * Tools end on a full disk as if all were well, with half a file.
 * @param folder where the tool writes
 * @param maxBytes what it was to write at most
 * @throws ToolFailed if the disk is full; ToolStopped if the tool itself filled it: with more than it was to write, or more than half of the disk
 */
export async function requireSpace(folder: string, maxBytes: number): Promise<void> {
  const { bavail, blocks, bsize } = await statfs(folder);
  if (bavail * bsize >= minFreeBytes) return;
  let bytes = 0;
  for await (const { name } of await opendir(folder)) {
    const { blocks: sectors } = await lstat(join(folder, name));
    bytes += inodeBytes + sectors * sectorBytes;
  }
  if (bytes > Math.min(maxBytes, (blocks * bsize) / 2))
    throw new ToolStopped('a tool has filled the disk with more than its output');
  throw new ToolFailed('no space is left on the disk for the output of a tool');
}
