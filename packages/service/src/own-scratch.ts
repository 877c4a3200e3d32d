import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

interface Beats {
  /** How often a worker says that it lives. */
  readonly everyMs: number;
  /** After how long a silence its folder belongs to nobody. */
  readonly deadAfterMs: number;
}

/** Twelve beats that are missed in a row. */
const usual: Beats = { everyMs: 5000, deadAfterMs: 60_000 };

/**
 * A folder of this process below `scratchDir`, gone when it is disposed of. Workers share `scratchDir`, be they on one machine or on several
 * that mount it, so no process id says who is alive: each touches its folder, and whoever finds one of its `service` that has not been touched
 * for a minute removes it, at its start and from then on.
 */
export async function ownScratch(
  scratchDir: string,
  service: string,
  { everyMs, deadAfterMs }: Beats = usual,
): Promise<AsyncDisposable & { readonly path: string }> {
  const prefix = `${service}-`;
  const path = join(scratchDir, `${prefix}${randomUUID()}`);
  const beat = async () => {
    // Another may have removed it while this process was suspended.
    await mkdir(path, { mode: 0o700, recursive: true });
    const now = new Date();
    await utimes(path, now, now);
    await removeDead(scratchDir, prefix, (await stat(path)).mtimeMs - deadAfterMs);
  };
  await beat();
  // A disk that fails now and then fails the jobs too, which tell of it.
  const beating = setInterval(() => beat().catch(() => {}), everyMs);
  return {
    path,
    async [Symbol.asyncDispose]() {
      clearInterval(beating);
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function removeDead(scratchDir: string, prefix: string, before: number): Promise<void> {
  for (const name of await readdir(scratchDir)) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(scratchDir, name);
    const found = await stat(folder).catch(() => undefined);
    if (found && found.mtimeMs < before) await rm(folder, { recursive: true, force: true });
  }
}
