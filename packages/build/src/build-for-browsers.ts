import { globSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** The TypeScript modules in `folder`, which browsers cannot run as they are. */
export function modulesForBrowsers(folder: string): readonly string[] {
  return globSync('*.ts', { cwd: folder }).map((name) => join(folder, name));
}

/** Builds `modules` into `target`, as scripts for pages, minified. Modules that they share, or load later, become further files. */
export async function buildForBrowsers(modules: readonly string[], target: string): Promise<void> {
  await using bundle = await rolldown({
    input: [...modules],
    // For runtimes without a `DOMParser`.
    external: ['@xmldom/xmldom'],
    platform: 'browser',
    // As the npm package.
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
