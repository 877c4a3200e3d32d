import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { entryOf } from '@echodrop/build/entry-of';
import { runFolder } from './samples/made-once.ts';
import { waitUntil } from './wait-until.ts';

interface Program {
  readonly path: string;
  readonly env: Record<string, string>;
}

/**
 * The program of a service, as images run it: built once per test run, because it starts in half the CPU time of the source.
 * Outside a test run, the source.
 */
export function builtService(service: string): Promise<Program> {
  return builtProgram(service, entryOf(service));
}

/** As `builtService`, for the module `entry`. The name is unique in a test run. */
export async function builtProgram(name: string, entry: string): Promise<Program> {
  const run = process.env[runFolder];
  if (run === undefined) return { path: entry, env: {} };
  const folder = join(run, 'built', name);
  const isBuilt = () => access(join(folder, 'external-packages')).then(() => true);
  // The process that creates this folder builds; others wait for the last file of the build.
  const isFirst = await mkdir(`${folder}.begun`, { recursive: true });
  if (isFirst) {
    const { build } = await import('@echodrop/build/build');
    await build(entry, folder);
  } else {
    await waitUntil(`the build of ${name}`, 60_000, isBuilt);
  }
  return { path: join(folder, 'main.js'), env: { NODE_COMPILE_CACHE: join(run, 'compiled') } };
}
