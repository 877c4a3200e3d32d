import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

// Any status that flock does not use itself.
const conflictStatus = 75;

/**
 * Locks `dir` until disposed or this process ends: two systems would damage each other's Redis. Processes of other containers see the lock, too.
 * @throws an Error with what `describeHolder` says of the holder's process, or if `dir` cannot be locked
 */
export async function holdFolder(dir: string, describeHolder: (pid: string) => string): Promise<AsyncDisposable> {
  const file = join(dir, 'lock');
  // Any process that can open the file can lock it, so only the owner can open it.
  await writeFile(file, '', { flag: 'a', mode: 0o600 });
  // `echo` reports that the lock is held. `cat` holds it until its input closes, so until this process ends. `detached` keeps Ctrl-C from `cat`.
  const command = ['--nonblock', '--conflict-exit-code', `${conflictStatus}`, file, 'sh', '-c', 'echo; exec cat'];
  const holder = spawn('flock', command, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = once(holder, 'exit');
  const [status] = await Promise.race([once(holder.stdout, 'data').then(() => []), ended]);
  if (status === conflictStatus) throw new Error(describeHolder(await readFile(file, 'utf8')));
  if (status !== undefined) throw new Error(`Cannot lock ${file}: flock exited with status ${status}`);
  await writeFile(file, `${process.pid}`);
  return {
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await ended;
    },
  };
}
