import { access, chmod, constants, stat } from 'node:fs/promises';
import { holdFolder } from '@echodrop/local/hold-folder';

/**
 * Locks the volume, which only its user can read, until disposed or this process ends.
 * @throws an Error that says what to do, if this user may not write there or another container has the lock
 */
export async function holdVolume(dir: string): Promise<AsyncDisposable> {
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  await access(dir, constants.R_OK | constants.W_OK | constants.X_OK).catch(({ code }: NodeJS.ErrnoException) => {
    throw new Error(
      `User ${user} cannot write to ${dir} (${code}). If it is a folder of the host, run there: chown ${user} <folder>. ` +
        'Or start the container as its owner: --user <uid>:<gid>.',
    );
  });
  // On mounts of other machines, modes may be fixed.
  if ((await stat(dir)).uid === process.getuid?.()) await chmod(dir, 0o700).catch(() => {});
  return await holdFolder(
    dir,
    () => `Another container is using this volume. Stop it, or mount another volume at ${dir}.`,
  );
}
