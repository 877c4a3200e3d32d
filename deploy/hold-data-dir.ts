import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath } from 'node:fs/promises';
import { createServer } from 'node:net';

/**
 * Makes the directory and holds it until disposed of, or until this process is gone: two systems on one would spoil each other's
 * Redis. What is held is an abstract socket, which the system lets go of by itself; outside of Linux there is none, and nobody checks.
 * @throws an Error when another process holds it, or the system's when it cannot be made
 */
export async function holdDataDir(dir: string): Promise<Disposable> {
  await mkdir(dir, { recursive: true });
  const holder = createServer((socket) => socket.destroy());
  if (process.platform === 'linux') {
    const id = createHash('sha256')
      .update(await realpath(dir))
      .digest('hex');
    holder.listen(`\0echodrop-${id}`);
    await once(holder, 'listening').catch((cause: unknown) => {
      throw new Error(`another system is running on ${dir}; stop it, or give this one a DATA_DIR of its own`, {
        cause,
      });
    });
  }
  return { [Symbol.dispose]: () => holder.close() };
}
