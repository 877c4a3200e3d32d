import { access, statfs } from 'node:fs/promises';
import { ToolFailed, ToolStopped } from './run-tool.ts';
import { exceedsLimit } from './watch-folder.ts';

const minFreeBytes = 1024 * 1024;
const minFreeInodes = 64;

/** Tools report a missing file as broken. @throws ToolFailed if it is missing */
export async function requireSource(path: string, toolName: string): Promise<void> {
  await access(path).catch((cause: unknown) => {
    throw new ToolFailed(`input file of ${toolName} missing`, { cause });
  });
}

/**
 * Tools report success on a full disk and leave half a file.
 * @param folder where the tool writes
 * @param maxBytes the limit of its output
 * @throws ToolFailed if the disk is full; ToolStopped if the tool itself filled it, with more than its limit or half of the disk
 */
export async function requireSpace(folder: string, maxBytes: number): Promise<void> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(folder);
  const hasInodes = files === 0 || ffree >= minFreeInodes;
  if (bavail * bsize >= minFreeBytes && hasInodes) return;
  if (await exceedsLimit(folder, Math.min(maxBytes, (blocks * bsize) / 2)))
    throw new ToolStopped('a media tool filled the disk with more than its output');
  throw new ToolFailed('no disk space left for the output of a media tool');
}
