import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { entryOf } from '@echodrop/build/entry-of';
import { execa } from 'execa';
import { runFolder } from './samples/made-once.ts';
import { waitUntil } from './wait-until.ts';

const builder = join(import.meta.dirname, '../../build/src/build.ts');

/**
 * The path of the program of a service, as images run it: built once per test run, because it starts in half the CPU time of the source.
 * Outside a test run, the source.
 */
export async function builtService(service: string): Promise<string> {
  const run = process.env[runFolder];
  if (run === undefined) return entryOf(service);
  const folder = join(run, 'built', service);
  const isBuilt = () => access(join(folder, 'external-packages')).then(() => true);
  // The process that creates this folder builds; others wait for the last file of the build.
  const isFirst = await mkdir(`${folder}.begun`, { recursive: true });
  // The bundler keeps a gigabyte, and each start of a program copies the page tables of its parent: it gets its own process.
  if (isFirst) await execa(process.execPath, [builder, join(run, 'built'), service]);
  else await waitUntil(`the build of ${service}`, isBuilt);
  return join(folder, 'main.js');
}
