import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtPrograms } from '@echodrop/build/built-programs';
import { runFolder } from './samples/made-once.ts';
import { waitUntil } from './wait-until.ts';

/** Builds services before they start, outside a test run all in one process. */
export async function buildServices(services: readonly string[]): Promise<void> {
  if (process.env[runFolder] === undefined) await builtPrograms(services);
  else await Promise.all(services.map(builtService));
}

/** The path of the program of a service, as `npm start` runs it: test runs use the same builds. */
export async function builtService(service: string): Promise<string> {
  const run = process.env[runFolder];
  const build = async () => (await builtPrograms([service])).get(service) ?? '';
  if (run === undefined) return build();
  // The process of the run that creates this folder builds; others wait for its note.
  const note = join(run, `built-${service}`);
  if (await mkdir(`${note}.begun`, { recursive: true })) {
    await writeFile(`${note}.begun/path`, await build());
    await rename(`${note}.begun/path`, note);
  }
  await waitUntil(`the build of ${service}`, () => access(note).then(() => true));
  return readFile(note, 'utf8');
}
