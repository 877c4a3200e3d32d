import { randomUUID } from 'node:crypto';
import { constants, readFileSync, rmSync } from 'node:fs';
import { copyFile, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { onEnd } from '../on-end.ts';

const pollMs = 100;
const unlockable = ['ENOENT', 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'];
const maxWaitMs = 120_000;

interface Lock extends AsyncDisposable {
  /** False if nothing can be locked: the folder is absent or not writable, or the disk is full. Then no profile can be stored either. */
  readonly isHeld: boolean;
}

/**
 * Waits until this process holds the lock file at `path`; disposing releases it. Its holder touches the file ten times in `abandonedMs`. One that
 * was not touched for so long belongs to a killed process and is removed. Clocks and process ids do not matter, so hosts can share the folder.
 * @throws Error after two minutes
 */
export async function lockFile(path: string, abandonedMs = 10_000): Promise<Lock> {
  const id = randomUUID();
  const end = performance.now() + maxWaitMs;
  let seen = '';
  let seenAt = performance.now();
  for (; performance.now() < end; await pause(pollMs)) {
    const code = await create(path, id);
    if (!code) return held(path, id, abandonedMs);
    if (unlockable.includes(code)) return { isHeld: false, async [Symbol.asyncDispose]() {} };
    const state = await stateOf(path);
    if (state !== seen) {
      seen = state;
      seenAt = performance.now();
    } else if (performance.now() - seenAt > abandonedMs) await removeAbandoned(path, seen);
  }
  throw new Error(`Another command is using this sign-in. If none runs, delete ${path}.`);
}

/** Creates the file. Returns the code of an expected error, if any. @throws any other error */
async function create(path: string, id: string): Promise<string | undefined> {
  try {
    await writeFile(path, id, { flag: 'wx', mode: 0o600 });
    return undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // A full disk leaves an empty file.
    if (['ENOSPC', 'EDQUOT'].includes(code)) await rm(path, { force: true });
    if (code === 'EEXIST' || unlockable.includes(code)) return code;
    throw error;
  }
}

async function stateOf(path: string): Promise<string> {
  try {
    const { mtimeMs } = await stat(path);
    return `${await readFile(path, 'utf8')} ${mtimeMs}`;
  } catch {
    return '';
  }
}

/**
 * Removes a lock file whose state is still `abandoned`. One that another process has created meanwhile is put back. Two processes hold the lock only
 * if this one stalls between the check before the call and the move, and a third one creates a lock between the move and the copy.
 */
export async function removeAbandoned(path: string, abandoned: string): Promise<void> {
  const moved = `${path}.${randomUUID()}`;
  try {
    await rename(path, moved);
    if ((await stateOf(moved)) !== abandoned) await copyFile(moved, path, constants.COPYFILE_EXCL);
  } catch {
    // Another process has removed or created it.
  } finally {
    await rm(moved, { force: true });
  }
}

function held(path: string, id: string, abandonedMs: number): Lock {
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, abandonedMs / 10).unref();
  const release = onEnd(() => {
    clearInterval(touch);
    try {
      // Not the lock of a process that took it over, while this one was suspended.
      if (readFileSync(path, 'utf8') === id) rmSync(path);
    } catch {
      // Removed already.
    }
  });
  return {
    isHeld: true,
    async [Symbol.asyncDispose]() {
      release();
    },
  };
}
