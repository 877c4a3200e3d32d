import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The folder for tokens: XDG Base Directory Specification. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return join(baseFolder(env, 'XDG_CONFIG_HOME', '.config'), 'echodrop');
}

/** The folder for the ledger of uploads. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  return join(baseFolder(env, 'XDG_STATE_HOME', '.local/state'), 'echodrop');
}

// The specification says that a relative path is ignored.
function baseFolder(env: NodeJS.ProcessEnv, name: string, fallback: string): string {
  const set = env[name];
  return set && isAbsolute(set) ? set : join(env['HOME'] || homedir(), fallback);
}
