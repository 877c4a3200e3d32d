import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExecaError, execa } from 'execa';
import { holdFolder } from './hold-folder.ts';

const systemFolders = ['logs', 'redis', 'scratch', 'secrets', 'store'];

/**
 * Creates the directory, readable by its owner only, and locks it until disposed or this process ends.
 * @throws an Error if another process holds it, or if it cannot be created
 */
export async function holdDataDir(dir: string): Promise<AsyncDisposable> {
  // Node's recursive mkdir never ends in /proc, whose folders exist but fail with ENOENT.
  await execa('mkdir', ['-p', '-m', '700', dir]).catch((error: ExecaError) => {
    throw new Error(`DATA_DIR cannot be created: ${error.stderr}`, { cause: error });
  });
  await restrictAccess(dir);
  return await holdFolder(
    dir,
    (pid) => `Another Echodrop (process ${pid}) is using ${dir}. Stop it, or set DATA_DIR to another folder.`,
  );
}

// If the directory holds anything else, or belongs to another user, only the system's folders in it are restricted.
async function restrictAccess(dir: string): Promise<void> {
  const [names, { uid }] = await Promise.all([readdir(dir), stat(dir)]);
  const folders = names.filter((name) => systemFolders.includes(name)).map((name) => join(dir, name));
  const isOurs = names.every((name) => name === 'lock' || systemFolders.includes(name)) && uid === process.getuid?.();
  await Promise.all((isOurs ? [dir, ...folders] : folders).map((path) => chmod(path, 0o700)));
}
