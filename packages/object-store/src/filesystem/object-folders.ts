import { mkdir, rmdir } from 'node:fs/promises';
import { dirname, relative } from 'node:path';

const maxTries = 10;

/** Runs `add`, which creates the file `path`, in its folder. If a removal of another file removes the folder meanwhile, makes it again. */
export async function addToFolder<T>(path: string, add: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      await mkdir(dirname(path), { recursive: true });
      return await add();
    } catch (error) {
      if (tries === maxTries || !isOfMissing(error)) throw error;
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
