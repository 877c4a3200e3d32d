import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

const root = join(import.meta.dirname, '../../..');
const packages = join(root, 'packages');
const client = join(packages, 'client');
const entries = { node: 'src/node.ts', browser: 'src/browser.ts', cli: 'src/cli/main.ts' } as const;
// The oldest Node and browsers that the package supports have ES2022.
const target = 'es2022';
// npm installs these packages with the client, whose code contains everything else.
const dependencies = ['@xmldom/xmldom', 'cli-progress', 'oauth4webapi'];
const external = [/^node:/, ...dependencies];

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

/**
 * Builds the npm package `@echodrop/client` into `folder`, whose tarball `npm pack` makes: JavaScript with all code but three dependencies, types,
 * sources and licences. `source`: where the source is published, an https address. npm requires it for a package with provenance.
 * @throws Error if a module cannot be resolved or parsed
 */
export async function buildClient(folder: string, source = ''): Promise<void> {
  if (source && !/^https:\/\/.*[^/]$/.test(source))
    throw new Error(
      'SOURCE must be the address where the source is published: https://..., without a slash at its end',
    );
  const manifest: Manifest = JSON.parse(await readFile(join(client, 'package.json'), 'utf8'));
  await rm(folder, { recursive: true, force: true });
  const modules = await writeJavaScript(join(folder, 'lib'));
  await writeTypes(join(folder, 'lib'));
  for (const file of modules.filter((id) => /\.[jt]s$/.test(id) && !id.includes('/node_modules/'))) {
    const copy = join(folder, 'src', relative(packages, file).replace('/src/', '/'));
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(file, copy);
  }
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  const pages = ['javascript', 'command-line'].map((name) =>
    readFile(join(root, 'docs/integrate', `${name}.md`), 'utf8'),
  );
  // The files that they link to are not in the package; the section "Build" is about this repository.
  await writeFile(
    join(folder, 'README.md'),
    (await Promise.all(pages))
      .join('\n')
      .replace(/\n## Build\n.*?(?=\n# )/s, '')
      .replaceAll(/ \(\[[^\]]*\]\((?!http)[^)]*\)\)|\[([^\]]*)\]\((?!http)[^)]*\)/g, '$1'),
  );
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES'), await licencesOf(modules));
  await writeFile(
    join(folder, 'package.json'),
    `${JSON.stringify(await publishedManifest(manifest, source), undefined, 2)}\n`,
  );
}

/** @returns the paths of the modules in the output */
async function writeJavaScript(folder: string): Promise<readonly string[]> {
  await using bundle = await rolldown({
    cwd: client,
    input: entries,
    platform: 'neutral',
    external,
    resolve: { mainFields: ['module', 'main'] },
    transform: { target },
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-chunk.js',
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : [])).filter((id) => id.startsWith('/'));
}

async function writeTypes(folder: string): Promise<void> {
  const errors: string[] = [];
  // The plugin warns of TypeScript 7, whatever the options, and goes on after an error.
  const logger = { info() {}, warn() {}, error: (message: string) => errors.push(message) };
  await using bundle = await rolldown({
    cwd: client,
    input: { node: entries.node, browser: entries.browser },
    platform: 'neutral',
    external,
    // The plugin waits for the compiler, which is another process.
    checks: { pluginTimings: false },
    plugins: [dts({ emitDtsOnly: true, tsconfig: join(root, 'tsconfig.client.json'), logger })],
  });
  await bundle.write({ dir: folder, format: 'esm', chunkFileNames: '[name]-chunk.d.ts' });
  if (errors.length > 0) throw new Error(errors.join('\n'));
}

async function publishedManifest({ version, description, license }: Manifest, source: string) {
  const versions = dependencies.map(async (name) => {
    const installed = findPackageJSON(name, join(client, 'package.json')) ?? '';
    return [name, `^${JSON.parse(await readFile(installed, 'utf8')).version}`];
  });
  const entry = (name: string) => ({ types: `./lib/${name}.d.ts`, default: `./lib/${name}.js` });
  return {
    name: '@echodrop/client',
    version,
    description,
    license,
    ...(source && { repository: { type: 'git', url: `git+${source}.git` } }),
    publishConfig: { access: 'public' },
    keywords: ['echodrop', 'upload', 'photo', 'video', 'oauth-echo'],
    type: 'module',
    engines: { node: '>=20.4' },
    sideEffects: false,
    exports: { '.': { node: entry('node'), default: entry('browser') }, './package.json': './package.json' },
    bin: { echodrop: 'lib/cli.js' },
    files: ['lib', 'src', 'THIRD-PARTY-LICENSES'],
    dependencies: Object.fromEntries(await Promise.all(versions)),
  };
}

/** The licences of the packages to which the modules belong, which their authors require in a copy. @throws Error if a package has none */
async function licencesOf(modules: readonly string[]): Promise<string> {
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

if (import.meta.main) {
  const folder = join(client, 'dist');
  await buildClient(folder, process.env['SOURCE']);
  process.stdout.write(
    `built ${relative(process.cwd(), folder)}; npm pack ./${relative(process.cwd(), folder)} makes the tarball\n`,
  );
}
