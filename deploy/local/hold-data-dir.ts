import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readdir, realpath, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { ExecaError, execa } from 'execa';

const mkdirMs = 10_000;
const systemFolders = ['logs', 'redis', 'scratch', 'secrets', 'store'];

/**
 * Creates the directory, readable by its owner only, and locks it until disposed or this process ends: two systems would damage each other's
 * Redis. The lock is an abstract socket, which the kernel releases and which sends the holder's pid. Outside Linux there is no lock.
 * @throws an Error if another process holds it, or if it cannot be created; or the signal's reason
 */
export async function holdDataDir(dir: string, signal: AbortSignal): Promise<Disposable> {
  await createDir(dir, signal);
  await restrictAccess(dir);
  const holder = createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
  if (process.platform === 'linux') {
    const id = createHash('sha256')
      .update(await realpath(dir))
      .digest('hex');
    const address = `\0echodrop-${id}`;
    holder.listen(address);
    await once(holder, 'listening').catch(async (cause: unknown) => {
      const pid = await holderOf(address);
      const other = `Another Echodrop${pid && ` (process ${pid})`}`;
      throw new Error(`${other} is using ${dir}. Stop it, or set DATA_DIR to another folder.`, { cause });
    });
  }
  return { [Symbol.dispose]: () => holder.close() };
}

// Node's recursive mkdir never ends in /proc, whose folders exist but fail with ENOENT.
async function createDir(dir: string, signal: AbortSignal): Promise<void> {
  try {
    await execa('mkdir', ['-p', '-m', '700', dir], { cancelSignal: signal, timeout: mkdirMs });
  } catch (cause) {
    signal.throwIfAborted();
    const reason =
      cause instanceof ExecaError && !cause.timedOut ? cause.stderr : `timed out after ${mkdirMs / 1000} s`;
    throw new Error(`DATA_DIR cannot be created: ${reason}`, { cause });
  }
}

// If the directory holds anything else, or belongs to another user, only the system's folders in it are restricted.
async function restrictAccess(dir: string): Promise<void> {
  const [names, { uid }] = await Promise.all([readdir(dir), stat(dir)]);
  const folders = names.filter((name) => systemFolders.includes(name)).map((name) => join(dir, name));
  const isOurs = folders.length === names.length && uid === process.getuid?.();
  await Promise.all((isOurs ? [dir, ...folders] : folders).map((path) => chmod(path, 0o700)));
}

/** The holder's pid; empty if it does not respond. Any user may listen at the address, so nothing but a number counts. */
async function holderOf(address: string): Promise<string> {
  const socket = connect(address);
  socket.setTimeout(2000, () => socket.destroy());
  const [sent] = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
  socket.destroy();
  return /^\d{1,10}$/.test(`${sent}`) ? `${sent}` : '';
}
