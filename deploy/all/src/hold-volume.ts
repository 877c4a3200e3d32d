import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, constants, stat } from 'node:fs/promises';
import { join } from 'node:path';

const conflict = 75;

/**
 * Locks the volume until disposed or this process ends. Two containers would damage each other's Redis, and the lock of `npm start` is not visible
 * to other containers. @throws an Error that says what to do, if this user may not write there or another container has the lock
 */
export async function holdVolume(dir: string): Promise<AsyncDisposable> {
  await requireWritable(dir);
  const file = join(dir, 'lock');
  // The lock ends with `cat`, which ends with this process.
  const command = ['--nonblock', '--conflict-exit-code', `${conflict}`, file, 'sh', '-c', 'echo; exec cat'];
  const holder = spawn('flock', command, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(holder, 'exit');
  const [status] = await Promise.race([once(holder.stdout, 'data').then(() => []), ended]);
  if (status === conflict)
    throw new Error(`Another container is using this volume. Stop it, or mount another volume at ${dir}.`);
  if (status !== undefined) throw new Error(`Cannot lock ${file}: flock exited with status ${status}`);
  return {
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await ended;
    },
  };
}

async function requireWritable(dir: string): Promise<void> {
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const fault = await access(dir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  if (fault)
    throw new Error(
      `User ${user} cannot write to ${dir} (${fault.code}). If it is a folder of the host, run there: chown ${user} <folder>. ` +
        'Or start the container as its owner: --user <uid>:<gid>.',
    );
  // On mounts of other machines, modes may be fixed.
  if ((await stat(dir)).uid === process.getuid?.()) await chmod(dir, 0o700).catch(() => {});
}
