import { join } from 'node:path';
import { execa } from 'execa';
import { builtService } from './built-service.ts';
import { patienceMs } from './patience.ts';
import type { Stack } from './start-stack.ts';

/** Runs an admin command on the filesystem store of a stack. @returns its output @throws if it fails */
export function adminOf({ folder }: Pick<Stack, 'folder'>, ...args: readonly string[]): Promise<string> {
  return runAdmin({ OBJECT_STORE: 'filesystem', OBJECT_STORE_DIR: join(folder, 'store') }, ...args);
}

/** Runs an admin command with only these settings. @returns its output @throws if it fails */
export async function runAdmin(settings: Record<string, string>, ...args: readonly string[]): Promise<string> {
  const program = await builtService('admin');
  const env = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...settings };
  return (await execa(process.execPath, [program, ...args], { env, extendEnv: false, timeout: patienceMs })).stdout;
}
