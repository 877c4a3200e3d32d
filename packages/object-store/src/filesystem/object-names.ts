import { hash, randomUUID } from 'node:crypto';
import { link, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { ownFolders } from '../object-keys.ts';
import { StoreUnavailable } from '../object-store.ts';
import { fromStore } from '../store-body.ts';
import type { StoreCapabilities } from '../store-capabilities.ts';
import { syncFile, syncNames, TemporaryFile } from './durable-file.ts';
import { NameClaim } from './name-claim.ts';
import { addToFolder } from './object-folders.ts';

interface StoreFolders {
  readonly root: string;
  readonly objects: string;
  readonly temporary: string;
}

// Linux responds with EPERM on FAT and exFAT, and for files of other users. Network folders and FUSE respond with any of these errors.
const withoutLinks = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Gives complete files of the temporary folder their names as objects, so that they survive a power failure. @throws StoreUnavailable */
export class ObjectNames {
  readonly #folders: StoreFolders;
  #hasLinks = true;
  #hasDirectorySync = true;

  constructor(folders: StoreFolders) {
    this.#folders = folders;
  }

  /** What the file system has, as far as `try` or a write has found. */
  get capabilities(): Pick<StoreCapabilities, 'hasHardLinks' | 'hasDirectorySync'> {
    return { hasHardLinks: this.#hasLinks, hasDirectorySync: this.#hasDirectorySync };
  }

  /** Replaces an earlier object. */
  async move(from: string, path: string): Promise<void> {
    await this.#inFolderOf(path, () => this.#rename(from, path));
  }

  /** Unlike a file opened with O_EXCL, the object appears with its whole content. @returns false if an object has the name */
  async add(from: string, path: string): Promise<boolean> {
    return this.#inFolderOf(path, async () => {
      const linked = this.#hasLinks ? await this.#link(from, path) : 'unsupported';
      return linked === 'unsupported' ? this.#claimAndRename(from, path) : linked === 'linked';
    });
  }

  /** Does what `add` does for an object without content, which is complete at once. */
  async addEmpty(path: string): Promise<boolean> {
    return this.#inFolderOf(path, async () => {
      const opened = await fromStore(open(path, 'wx', 0o640), 'EEXIST');
      if (!opened) return false;
      await using handle = opened;
      await fromStore(syncFile(handle));
      return true;
    });
  }

  /** Writes an existing name to disk: its writer may have died before that. */
  async sync(path: string): Promise<void> {
    if (!(await fromStore(syncNames(path, this.#folders.root)))) this.#hasDirectorySync = false;
  }

  /** Tries links, renames and syncs in each folder of objects: one of them may be a mount. */
  async try(): Promise<void> {
    const { objects, temporary } = this.#folders;
    await using file = new TemporaryFile(temporary);
    await fromStore(file.sync());
    for (const folder of await foldersOf(objects)) {
      // No key begins with a dot.
      const path = join(folder, `.trial-${randomUUID()}`);
      try {
        if (this.#hasLinks && (await this.#link(file.path, path)) === 'linked') await fromStore(unlink(path));
        await this.#rename(file.path, path);
        await this.#rename(path, file.path);
        await this.sync(path);
      } finally {
        await unlink(path).catch(() => {});
      }
    }
  }

  async #claimAndRename(from: string, path: string): Promise<boolean> {
    const { objects, temporary } = this.#folders;
    // If this process dies, a sweep removes the file as an unfinished write.
    const claimPath = join(temporary, `claim-${hash('sha256', relative(objects, path))}`);
    await using claim = await NameClaim.take(claimPath);
    if (await fromStore(lstat(path), 'ENOENT')) return false;
    claim.requireFresh();
    await this.#rename(from, path);
    return true;
  }

  async #link(from: string, path: string): Promise<'linked' | 'exists' | 'unsupported'> {
    try {
      await link(from, path);
      return 'linked';
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return 'exists';
      if (!withoutLinks.includes(code)) throw this.#describe(error, from, path);
    }
    this.#hasLinks = false;
    return 'unsupported';
  }

  async #rename(from: string, path: string): Promise<void> {
    await rename(from, path).catch((error: unknown) => {
      throw this.#describe(error, from, path);
    });
  }

  #describe(error: unknown, from: string, path: string): unknown {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') return error;
    return new StoreUnavailable(
      `files cannot move from ${dirname(from)} to ${dirname(path)}: these folders are on different disks, mounts or subvolumes; ` +
        `keep all of ${this.#folders.root} on one`,
      { cause: error },
    );
  }

  async #inFolderOf<T>(path: string, add: () => Promise<T>): Promise<T> {
    const result = await fromStore(addToFolder(path, this.#folders.objects, add));
    await this.sync(path);
    return result;
  }
}

/** The folder of objects and Echodrop's folders in it that exist. Other folders, such as a NAS adds, may not be writable. */
async function foldersOf(objects: string): Promise<string[]> {
  const paths = ['', ...ownFolders].map((name) => join(objects, name));
  const found = await Promise.all(paths.map((path) => fromStore(stat(path), 'ENOENT')));
  return paths.filter((_, n) => found[n]?.isDirectory());
}
