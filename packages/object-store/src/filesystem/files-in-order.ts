import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The files in `root` below `prefix` (which ends with a slash) whose paths come after `after`, in the order of their bytes, as S3
 * lists keys: a folder stands where its name with a slash does. Folders that come before `after` as a whole are not read.
 */
export async function* filesBelow(root: string, prefix: string, after: string): AsyncGenerator<string> {
  for (const path of await sortedPaths(root, prefix)) {
    const isPassed = path <= after && !(path.endsWith('/') && after.startsWith(path));
    if (isPassed) continue;
    if (path.endsWith('/')) yield* filesBelow(root, path, after);
    else yield path;
  }
}

async function sortedPaths(root: string, prefix: string): Promise<string[]> {
  const entries = await readdir(join(root, prefix), { withFileTypes: true }).catch(absent);
  return entries.map((entry) => `${prefix}${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
}

function absent(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
  throw error;
}
