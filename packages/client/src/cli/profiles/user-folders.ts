import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** The folder for tokens: XDG Base Directory Specification. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return join(baseFolder(env, 'XDG_CONFIG_HOME', '.config'), 'echodrop');
}

/** The folder for the ledger of uploads. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  return join(baseFolder(env, 'XDG_STATE_HOME', '.local/state'), 'echodrop');
}

/** Creates a folder for this user only, and those above it. Node's `recursive` never ends in `/proc`, which can contain no folder. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await makeLastFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await makeLastFolder(path);
  }
}

async function makeLastFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

// The specification: a relative path is ignored.
function baseFolder(env: NodeJS.ProcessEnv, name: string, fallback: string): string {
  const set = env[name];
  return set && isAbsolute(set) ? set : join(env['HOME'] || homedir(), fallback);
}
