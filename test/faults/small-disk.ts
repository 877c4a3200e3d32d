import { mkdir, mkdtempDisposable, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { onDispose } from './on-dispose.ts';

const pageBytes = 4096;
const diskBytes = 2 ** 30;
// Overhead of the file system.
const spareBytes = 256 * 1024;

export interface SmallDisk extends AsyncDisposable {
  readonly path: string;
}

/** What this machine lacks for separate disks, if anything. */
export async function missingForDisks(): Promise<string | undefined> {
  try {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'echodrop-mount-'));
    await using _mounted = await coverWithFullDisk(folder.path);
    return undefined;
  } catch {
    return 'permission to mount file systems';
  }
}

/** Mounts a full disk over a folder. Disposing restores the folder. */
export async function coverWithFullDisk(folder: string): Promise<AsyncDisposable> {
  await execa('mount', ['-t', 'tmpfs', '-o', `size=${pageBytes},mode=700`, 'echodrop-full', folder]);
  await using parts = new AsyncDisposableStack();
  // Lazy, because a process may have a file open there.
  parts.defer(async () => void (await execa('umount', ['--lazy', folder])));
  await writeFile(join(folder, 'filler'), Buffer.alloc(pageBytes));
  return parts.move();
}

/** Mounts an ext4 of one GiB from a sparse file. */
export async function mountSmallDisk(): Promise<SmallDisk> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-disk-'))).path;
  const image = join(folder, 'image');
  const path = join(folder, 'disk');
  await writeFile(image, '');
  await truncate(image, diskBytes);
  await execa('mkfs.ext4', ['-q', '-m', '0', image]);
  await mkdir(path);
  await execa('mount', ['-o', 'loop', image, path]);
  parts.defer(async () => void (await execa('umount', [path])));
  const held = parts.move();
  return { path, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/** Fills the disk of `folder`. */
export async function fillDisk(folder: string): Promise<AsyncDisposable> {
  const filler = join(folder, 'filler');
  const { bavail, bsize } = await statfs(folder);
  await execa('fallocate', ['--length', `${bavail * bsize - spareBytes}`, filler]);
  return onDispose(() => rm(filler));
}
