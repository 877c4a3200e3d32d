import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

const addresses =
  /new URL\('([^']+)\.ts', import\.meta\.url\)|new URL\('\.\/([\w-]+)\/', import\.meta\.url\)|import\.meta\.resolve\('([^']+)'\)|import\.meta\.url/g;

// Its JavaScript is built in, which saves a third of a short process's time. Its native code stays where it is installed.
const findsNativeCode = /\/node_modules\/sharp\//;

/**
 * Keeps file addresses valid in code that is built into `folder`. `new URL('<program>.ts', import.meta.url)` becomes the address of that program,
 * which is built too. `new URL('./<name>/', import.meta.url)` of a folder with TypeScript becomes the address of its scripts for browsers.
 * Any other `import.meta.url` stays that of the source, from where stylesheets and scripts are read.
 * Adds files that `import.meta.resolve` names to `external`.
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
      const scripts = await buildScripts(code, dirname(id), folder);
      return code.replaceAll(addresses, (found, program?: string, name?: string, specifier?: string) => {
        if (name) return scripts.has(name) ? found : found.replace('import.meta.url', address(id));
        if (program) {
          const built = this.emitFile({ type: 'chunk', id: join(dirname(id), `${program}.ts`) });
          return `new URL(import.meta.ROLLUP_FILE_URL_${built})`;
        }
        if (!specifier) return address(id);
        const file = createRequire(id).resolve(specifier);
        external.add(file);
        return address(file);
      });
    },
  };
}

/** Builds the folders with scripts for browsers that a module in `source` names. @returns their names */
async function buildScripts(code: string, source: string, folder: string): Promise<ReadonlySet<string>> {
  const built = new Set<string>();
  for (const [, , name = ''] of code.matchAll(addresses)) {
    // Browsers cannot run TypeScript as it is.
    const modules = name ? globSync('*.ts', { cwd: join(source, name) }) : [];
    if (modules.length === 0) continue;
    await buildForBrowsers(
      modules.map((module) => join(source, name, module)),
      join(folder, name),
    );
    built.add(name);
  }
  return built;
}

/** Builds `modules` into `target`, as scripts for pages, minified. Modules that they share, or load later, become further files. */
async function buildForBrowsers(modules: readonly string[], target: string): Promise<void> {
  await using bundle = await rolldown({
    input: [...modules],
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
