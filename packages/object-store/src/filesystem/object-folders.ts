import { access, mkdir, rmdir } from 'node:fs/promises';
import { dirname, relative } from 'node:path';

const maxTries = 10;

/**
 * Runs `add`, which creates the file `path`, in its folder below `root`. Makes the folder if it is missing: also if a removal of another file removes
 * it meanwhile. Does not make `root`.
 */
export async function addToFolder<T>(path: string, root: string, add: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await add();
    } catch (error) {
      if (tries === maxTries || !isOfMissing(error)) throw error;
      await access(root);
      await mkdir(dirname(path), { recursive: true });
    }
  }
}

/** Removes the folder of the removed file `path` if it is empty, and those above it. The folders right below `root` stay. */
export async function removeEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = dirname(path); relative(root, folder).includes('/'); folder = dirname(folder)) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

function isOfMissing(error: unknown): boolean {
  const { code, cause } = error as NodeJS.ErrnoException;
  return (code ?? (cause as NodeJS.ErrnoException | undefined)?.code) === 'ENOENT';
}
