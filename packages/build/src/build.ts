import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { entryOf } from './entry-of.ts';
import { keepAddresses } from './keep-addresses.ts';
import { keepExternal } from './keep-external.ts';
import { packageFolders } from './package-folders.ts';

const root = join(import.meta.dirname, '../../..');

/**
 * Builds the process that starts with the module `entry` into `folder`: `main.js` with the workspace's code and nearly all packages in it, the
 * programs that it starts, and `external-packages`, which lists the package folders that must be installed where it runs, one per line, relative
 * to the workspace.
 * @throws Error where a module cannot be resolved or parsed
 */
export async function build(entry: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const external = new Set<string>();
  await using bundle = await rolldown({
    cwd: root,
    input: { main: entry },
    platform: 'node',
    // Of CommonJS; a package that reads files beside itself belongs to keep-external.ts.
    transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
    plugins: [keepExternal(folder, external), keepAddresses(folder, external)],
  });
  // Not minified: stack traces name functions, and a comment before each module names its source.
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  const folders = await packageFolders(root, external);
  await writeFile(join(folder, 'external-packages'), folders.map((path) => `${path}\n`).join(''));
}

if (import.meta.main) {
  for (const service of process.argv.slice(2)) {
    await build(entryOf(service), join(root, 'built', service));
  }
}
