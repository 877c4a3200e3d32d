import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readdir, realpath, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ExecaError, execa } from 'execa';

const withinMs = 10_000;

const ownFolders = ['logs', 'redis', 'secrets', 'store'];

/**
 * Makes the directory, for its owner alone, and holds it until disposed of, or until this process is gone: two systems on one would spoil each
 * other's Redis. What is held is an abstract socket, which the system lets go of by itself and through which others read the
 * holder's pid; outside of Linux there is none, and no check.
 * @throws an Error when another process holds it, or when it cannot be made; or the signal's reason
 */
export async function holdDataDir(dir: string, signal: AbortSignal): Promise<Disposable> {
  await make(dir, signal);
  await closeToOthers(dir);
  const holder = createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
  if (process.platform === 'linux') {
    const id = createHash('sha256')
      .update(await realpath(dir))
      .digest('hex');
    const address = `\0echodrop-${id}`;
    holder.listen(address);
    await once(holder, 'listening').catch(async (cause: unknown) => {
      const pid = await holderOf(address);
      throw new Error(
        `another system${pid && ` (process ${pid})`} is running on ${dir}; stop it, or give this one a DATA_DIR of its own`,
        { cause },
      );
    });
  }
  return { [Symbol.dispose]: () => holder.close() };
}

// Node's recursive mkdir never ends in /proc, whose folders exist but fail with ENOENT.
async function make(dir: string, signal: AbortSignal): Promise<void> {
  try {
    await execa('mkdir', ['-p', '-m', '700', dir], { cancelSignal: signal, timeout: withinMs });
  } catch (cause) {
    signal.throwIfAborted();
    const reason = cause instanceof ExecaError && !cause.timedOut ? cause.stderr : `not within ${withinMs / 1000} s`;
    throw new Error(`DATA_DIR cannot be made: ${reason}`, { cause });
  }
}

// A directory that holds anything else, or belongs to another user, stays open: then only our folders in it are closed.
async function closeToOthers(dir: string): Promise<void> {
  const [names, { uid }] = await Promise.all([readdir(dir), stat(dir)]);
  const own = names.filter((name) => ownFolders.includes(name)).map((name) => join(dir, name));
  const isOurs = own.length === names.length && uid === process.getuid?.();
  await Promise.all((isOurs ? [dir, ...own] : own).map((each) => chmod(each, 0o700)));
}

/** Its pid, or nothing where it does not answer. */
async function holderOf(address: string): Promise<string> {
  const socket = connect(address);
  socket.setTimeout(2000, () => socket.destroy());
  return text(socket).catch(() => '');
}
