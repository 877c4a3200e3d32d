import { glob, realpath, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { entryOf } from './entry-of.ts';
import { keepAddresses } from './keep-addresses.ts';

const root = join(import.meta.dirname, '../../..');
// These packages have code that reads files beside itself, or is native.
const externalPackages = /^(libheif-js|@node-rs\/crc32)(\/|$)/;

/**
 * Bundles the module `entry` into `folder`. Writes `main.js` (the workspace's code and most packages), the programs that it starts, and
 * `external-packages`. That file lists the package folders that the process needs at run time, one per line, relative to
 * the workspace.
 * @throws Error if a module cannot be resolved or parsed
 */
export async function build(entry: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const external = new Set<string>();
  await using bundle = await rolldown({
    cwd: root,
    input: { main: entry },
    platform: 'node',
    // CommonJS packages use these names. A package that reads files beside itself must match `externalPackages`.
    transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
    plugins: [keepExternal(folder, external), keepAddresses(folder, external)],
  });
  // The code is not minified: stack traces name functions, and a comment before each module names its source.
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  const folders = await packageFolders(external);
  // Otherwise Node parses the entry as CommonJS first: 20 of 190 ms of a start.
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  await writeFile(join(folder, 'external-packages'), folders.map((path) => `${path}\n`).join(''));
}

/** Leaves out packages that cannot be bundled: code in `folder` imports them from where they are installed. Adds their files to `external`. */
function keepExternal(folder: string, external: Set<string>): Plugin {
  return {
    name: 'keep-external',
    async resolveId(specifier, importer, options) {
      if (!externalPackages.test(specifier)) return null;
      const found = await this.resolve(specifier, importer, { ...options, skipSelf: true });
      if (!found) return null;
      external.add(found.id);
      return { id: relative(folder, found.id), external: true };
    },
  };
}

/** The folders of pnpm's store that contain `files` and all packages on which these depend, relative to the workspace. */
async function packageFolders(files: Iterable<string>): Promise<readonly string[]> {
  const folders = new Set<string>();
  const add = async (path: string): Promise<void> => {
    const folder = /^.*\/node_modules\/\.pnpm\/[^/]+(?=\/)/.exec(await realpath(path))?.[0];
    if (!folder || folders.has(folder)) return;
    folders.add(folder);
    for await (const dependency of glob('node_modules/{*,@*/*}', { cwd: folder })) await add(join(folder, dependency));
  };
  for (const file of files) await add(file);
  return [...folders].map((folder) => relative(root, folder)).sort();
}

/** Builds services into `folder`, one folder each, as images have them. */
export async function buildServices(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await build(entryOf(name), join(folder, name));
}

if (import.meta.main) {
  const [folder = '', ...names] = process.argv.slice(2);
  await buildServices(resolve(folder), names);
}
