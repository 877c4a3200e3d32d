import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setInterval as ticks } from 'node:timers/promises';

interface Beats {
  /** How often a worker says that it lives. */
  readonly everyMs: number;
  /** After how long a silence its folder belongs to nobody. */
  readonly deadAfterMs: number;
}

/** Four beats that are missed in a row. */
const usual: Beats = { everyMs: 15_000, deadAfterMs: 60_000 };

/**
 * A folder of this process below `scratchDir`, gone when it is disposed of. Workers share `scratchDir`, be they on one machine or on several
 * that mount it, so no process id says who is alive: each touches its folder, and whoever finds one of its `service` that has not been touched
 * for a minute removes it, at its start and from then on. Only times that the file system itself has set are compared: clocks of machines differ.
 */
export async function createScratchFolder(
  scratchDir: string,
  service: string,
  { everyMs, deadAfterMs }: Beats = usual,
): Promise<AsyncDisposable & { readonly path: string }> {
  const prefix = `${service}-`;
  const path = join(scratchDir, `${prefix}${randomUUID()}`);
  const beat = async () => {
    // Another may have removed the folder while this process was suspended. That an entry comes and goes sets the folder's time.
    const sign = join(path, 'alive');
    await mkdir(sign, { mode: 0o700, recursive: true });
    await rmdir(sign);
    await removeDead(scratchDir, prefix, (await stat(path)).mtimeMs - deadAfterMs);
  };
  await beat();
  const over = new AbortController();
  const beating = eachTick(everyMs, over.signal, beat);
  return {
    path,
    async [Symbol.asyncDispose]() {
      over.abort();
      await beating;
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function eachTick(everyMs: number, over: AbortSignal, beat: () => Promise<void>): Promise<void> {
  try {
    for await (const _ of ticks(everyMs, undefined, { signal: over })) {
      // A disk that fails now and then fails the jobs too, which tell of it.
      await beat().catch(() => {});
    }
  } catch {
    // It is over.
  }
}

async function removeDead(scratchDir: string, prefix: string, before: number): Promise<void> {
  for (const name of await readdir(scratchDir)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(scratchDir, name);
    const found = await stat(folder).catch(() => undefined);
    if (found && found.mtimeMs < before) await rm(folder, { recursive: true, force: true });
  }
}
