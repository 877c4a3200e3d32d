import { join, resolve } from 'node:path';
import { execa } from 'execa';
import type { Stack } from './start-stack.ts';

const main = resolve(import.meta.dirname, '../../../services/admin/src/main.ts');

/** Runs an operator's command on the filesystem store of a stack; gives what it printed. Rejects where it fails. */
export async function adminOf({ folder }: Pick<Stack, 'folder'>, ...args: readonly string[]): Promise<string> {
  const env = { OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: join(folder, 'store') };
  const { stdout } = await execa(process.execPath, [main, ...args], { env, extendEnv: false, timeout: 20_000 });
  return stdout;
}
