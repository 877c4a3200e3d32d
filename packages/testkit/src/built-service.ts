import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { builtPrograms } from '@echodrop/build/built-programs';
import { execa } from 'execa';
import { runFolder } from './samples/made-once.ts';
import { waitUntil } from './wait-until.ts';

const builder = join(import.meta.dirname, '../../build/src/build.ts');

/** Builds services before they start, outside a test run all in one process. */
export async function buildServices(services: readonly string[]): Promise<void> {
  if (process.env[runFolder] === undefined) await builtPrograms(services);
  else await Promise.all(services.map(builtService));
}

/**
 * The path of the program of a service, as images run it: built once per test run. Outside a test run, as `npm start` runs it.
 */
export async function builtService(service: string): Promise<string> {
  const run = process.env[runFolder];
  if (run === undefined) return (await builtPrograms([service])).get(service) ?? '';
  const folder = join(run, 'built', service);
  const isBuilt = () => access(join(folder, 'external-packages')).then(() => true);
  // The process that creates this folder builds; others wait for the last file of the build.
  const isFirst = await mkdir(`${folder}.begun`, { recursive: true });
  // The bundler keeps a gigabyte, and each start of a program copies the page tables of its parent: it gets its own process.
  if (isFirst) await execa(process.execPath, [builder, join(run, 'built'), service]);
  else await waitUntil(`the build of ${service}`, isBuilt);
  return join(folder, 'main.js');
}
