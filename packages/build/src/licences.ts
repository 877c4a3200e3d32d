import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The licences of the packages to which the modules belong, which their authors require in a copy. @throws Error if a package has none */
export async function licencesOf(modules: readonly string[]): Promise<string> {
  const folders = new Map<string, string>();
  for (const id of modules) {
    const [folder, name] = /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/.exec(id) ?? [];
    if (folder && name) folders.set(name, folder);
  }
  const texts = [...folders].sort().map(async ([name, folder]) => `${name}\n\n${await licenceIn(folder)}`);
  return (await Promise.all(texts)).join(`\n${'-'.repeat(72)}\n\n`);
}

async function licenceIn(folder: string): Promise<string> {
  const file = (await readdir(folder)).find((name) => /^licen[cs]e(\.(md|txt))?$/i.test(name));
  if (file === undefined) throw new Error(`${folder} has no licence file. Do not bundle it: make it a dependency.`);
  return readFile(join(folder, file), 'utf8');
}
