import { glob, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** The folders of pnpm's store in `node_modules` that hold `files` and all packages that these depend on, relative to `root`. */
export async function packageFolders(root: string, files: Iterable<string>): Promise<readonly string[]> {
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
