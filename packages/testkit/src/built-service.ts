import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { entryOf } from '@echodrop/build/entry-of';
import { samplesFolder } from './samples/made-once.ts';
import { waitUntil } from './wait-until.ts';

interface Program {
  readonly path: string;
  readonly env: Record<string, string>;
}

/**
 * What a test starts to run `service`: what images run, built at most once per test run, as it starts in half the processor time of the source.
 * Outside a run it is the source.
 */
export function builtService(service: string): Promise<Program> {
  return builtProgram(service, entryOf(service));
}

/** As `builtService`, for the program that starts with the module `entry`; its name is unique in the run. */
export async function builtProgram(name: string, entry: string): Promise<Program> {
  const runFolder = process.env[samplesFolder];
  if (runFolder === undefined) return { path: entry, env: {} };
  const folder = join(runFolder, 'built', name);
  const isBuilt = () => access(join(folder, 'external-packages')).then(() => true);
  // The process that makes this folder builds; others wait for the file that the build writes last.
  const isFirst = await mkdir(`${folder}.begun`, { recursive: true });
  if (isFirst) {
    const { build } = await import('@echodrop/build/build');
    await build(entry, folder);
  } else {
    await waitUntil(`the build of ${name}`, 60_000, isBuilt);
  }
  return { path: join(folder, 'main.js'), env: { NODE_COMPILE_CACHE: join(runFolder, 'compiled') } };
}
