import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const addresses =
  /new URL\('([^']+)\.ts', import\.meta\.url\)|new URL\('\.\/([\w-]+)\/', import\.meta\.url\)|import\.meta\.url/g;

// Its JavaScript is built in, which saves a third of a short process's time. Its native code stays where it is installed.
const findsNativeCode = /\/node_modules\/sharp\//;

/**
 * Keeps file addresses valid in code that is built into `folder`. `new URL('<program>.ts', import.meta.url)` becomes the address of that program,
 * which is built too. `new URL('./<name>/', import.meta.url)` becomes the address of the folder's scripts, built for browsers.
 * Any other `import.meta.url` stays that of the source, from where stylesheets and scripts are read.
 * Adds files that find native code beside themselves to `external`.
 */
export function keepAddresses(folder: string, external: Set<string>): Plugin {
  const address = (path: string) => `new URL(${JSON.stringify(relative(folder, path))}, import.meta.url).href`;
  return {
    name: 'keep-addresses',
    async transform(code, id) {
      if (!id.startsWith('/') || !code.includes('import.meta.')) return null;
      if (id.includes('/node_modules/')) {
        if (!findsNativeCode.test(id)) return null;
        external.add(id);
      }
      for (const [, , name] of code.matchAll(addresses))
        if (name) await buildForBrowsers(join(dirname(id), name), join(folder, name));
      return code.replaceAll(addresses, (found, program?: string, name?: string) => {
        if (name) return found;
        if (program) {
          const built = this.emitFile({ type: 'chunk', id: join(dirname(id), `${program}.ts`) });
          return `new URL(import.meta.ROLLUP_FILE_URL_${built})`;
        }
        return address(id);
      });
    },
  };
}

/** Builds the modules in `source` into `target`, as scripts for pages, minified. Modules that they share, or load later, become further files. */
async function buildForBrowsers(source: string, target: string): Promise<void> {
  await using bundle = await rolldown({
    input: globSync('*.ts', { cwd: source }).map((module) => join(source, module)),
    // These are scripts of other folders, by the addresses of their pages, and a package for runtimes without a `DOMParser`.
    external: [/^\/[\w-]+\/[\w-]+\.js$/, '@xmldom/xmldom'],
    platform: 'browser',
    // The npm package has the same setting.
    transform: { target: 'es2022' },
  });
  await bundle.write({
    dir: target,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-chunk.js',
    minify: true,
    comments: { legal: true, annotation: false, jsdoc: false },
  });
}
