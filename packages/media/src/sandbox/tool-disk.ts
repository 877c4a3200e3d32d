import { access, statfs } from 'node:fs/promises';
import { ToolFailed, ToolStopped } from './bounded-process.ts';
import { holdsMore } from './watch-folder.ts';

const minFreeBytes = 1024 * 1024;
const minFreeInodes = 64;

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
  const { bavail, blocks, bsize, ffree, files } = await statfs(folder);
  const hasInodes = files === 0 || ffree >= minFreeInodes;
  if (bavail * bsize >= minFreeBytes && hasInodes) return;
  if (await holdsMore(folder, Math.min(maxBytes, (blocks * bsize) / 2)))
    throw new ToolStopped('a tool has filled the disk with more than its output');
  throw new ToolFailed('no space is left on the disk for the output of a tool');
}
