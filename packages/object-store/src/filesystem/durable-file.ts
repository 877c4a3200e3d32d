import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

// VirtualBox's shared folders, 9p, and CIFS of older kernels respond with EINVAL to a sync of a directory. PostgreSQL ignores the same errors.
const withoutSync = ['EINVAL', 'EBADF'];

export type FileStats = Pick<BigIntStats, 'size' | 'mtimeNs'>;

/** A file that is written under a temporary name in `directory`. Disposing removes that name. */
export class TemporaryFile implements AsyncDisposable {
  readonly path: string;
  #handle: FileHandle | undefined;

  constructor(directory: string) {
    this.path = join(directory, randomUUID());
  }

  async append(bytes: Buffer): Promise<void> {
    await (await this.#open()).appendFile(bytes);
  }

  /** Once this resolves, the content survives a power failure. */
  async sync(): Promise<FileStats> {
    return syncFile(await this.#open());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#handle === undefined) return;
    await this.#handle.close();
    await unlink(this.path).catch(() => {});
  }

  async #open(): Promise<FileHandle> {
    this.#handle ??= await open(this.path, 'wx', 0o640);
    return this.#handle;
  }
}

/** Once this resolves, the content survives a power failure. */
export async function syncFile(handle: FileHandle): Promise<FileStats> {
  const now = preciseNow() / 1000;
  await handle.utimes(now, now);
  await handle.sync();
  return handle.stat({ bigint: true });
}

// The kernel's own timestamps may be milliseconds coarse; with microseconds, any two writes differ. These come from another clock, whose
// milliseconds lag: it stops while the machine is suspended, and no correction of the time moves it.
function preciseNow(): number {
  return Date.now() + ((performance.timeOrigin + performance.now()) % 1);
}

/**
 * Makes the name `path`, or its removal, survive a power failure: syncs its parent directories up to `root`, except those that were removed.
 * @returns false if the file system cannot sync directories
 */
export async function syncNames(path: string, root: string): Promise<boolean> {
  let isSynced = true;
  let directory = path;
  do {
    directory = dirname(directory);
    await using handle = await openIfExists(directory);
    if (handle && !(await syncDirectory(handle, directory))) isSynced = false;
  } while (directory !== root);
  return isSynced;
}

async function syncDirectory(handle: FileHandle, path: string): Promise<boolean> {
  try {
    await handle.sync();
    return true;
  } catch (cause) {
    if (withoutSync.includes((cause as NodeJS.ErrnoException).code ?? '')) return false;
    throw new Error(`cannot sync the folder ${path}`, { cause });
  }
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
}
