import { rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const pollMs = 100;
const maxWaitMs = 120_000;

/**
 * Waits until this process holds the lock file at `path`; disposing releases it. Its holder touches the file ten times in `abandonedMs`. One that
 * was not touched for so long belongs to a killed process and is removed. Clocks and process ids do not matter, so hosts can share the folder.
 * @throws Error after two minutes, or the system's error if the file cannot be created
 */
export async function lockFile(path: string, abandonedMs = 10_000): Promise<AsyncDisposable> {
  const end = performance.now() + maxWaitMs;
  let touched: number | undefined;
  let touchedAt = performance.now();
  while (!(await create(path))) {
    if (performance.now() > end)
      throw new Error(`Another command is using this sign-in. If none runs, delete ${path}.`);
    const last = await lastTouch(path);
    if (last !== touched) {
      touched = last;
      touchedAt = performance.now();
    } else if (performance.now() - touchedAt > abandonedMs) await rm(path, { force: true });
    await pause(pollMs);
  }
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, abandonedMs / 10).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(touch);
      await rm(path, { force: true });
    },
  };
}

/** Creates the file. @returns false if it exists already */
async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, '', { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** When the file was created or touched, by the clock of its holder; undefined if it is gone. */
async function lastTouch(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}
