import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval as ticks } from 'node:timers/promises';

interface Heartbeat {
  readonly everyMs: number;
  /** A folder that was silent for longer is an orphan. */
  readonly deadAfterMs: number;
}

// A folder is an orphan after four missed beats.
const defaultHeartbeat: Heartbeat = { everyMs: 15_000, deadAfterMs: 60_000 };

/**
 * Creates a folder for this process below `scratchDir`; disposing removes it. Processes on several machines may share `scratchDir`, so
 * process ids prove nothing: each process touches its folder, and removes folders of its `service` that nothing has touched for a minute.
 * Only file times that the file system set are compared, as clocks of machines differ.
 */
export async function createScratchFolder(
  scratchDir: string,
  service: string,
  { everyMs, deadAfterMs }: Heartbeat = defaultHeartbeat,
): Promise<AsyncDisposable & { readonly path: string }> {
  const prefix = `${service}-`;
  const path = join(scratchDir, `${prefix}${randomUUID()}`);
  const beat = async () => {
    // Recreates the folder: another process may have removed it while this one was suspended. Adding an entry sets its time.
    const entry = join(path, 'alive');
    await mkdir(entry, { mode: 0o700, recursive: true });
    await rmdir(entry);
    await removeOrphans(scratchDir, prefix, (await stat(path)).mtimeMs - deadAfterMs);
  };
  await beat();
  const stop = new AbortController();
  const beatRegularly = async () => {
    // Jobs report disk errors.
    for await (const _ of ticks(everyMs, undefined, { signal: stop.signal })) await beat().catch(() => {});
  };
  // The pause rejects when the folder is disposed.
  const beating = beatRegularly().catch(() => {});
  return {
    path,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await beating;
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function removeOrphans(scratchDir: string, prefix: string, before: number): Promise<void> {
  for (const name of await readdir(scratchDir)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(scratchDir, name);
    const found = await lstat(folder).catch(() => undefined);
    // In a shared `scratchDir`, another user could replace parts of a folder by links while it is removed.
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue;
    if (found.mtimeMs < before) await rm(folder, { recursive: true, force: true });
  }
}
