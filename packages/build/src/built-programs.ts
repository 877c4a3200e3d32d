import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtempDisposable, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { entryOf } from './entry-of.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);
const weekMs = 7 * 24 * 60 * 60_000;

/**
 * The paths of the programs of services, built as images have them. A program is built unless a build of the same sources and packages exists,
 * so that none is ever stale. @throws Error if one cannot be built, or the signal's reason
 */
export async function builtPrograms<Name extends string>(
  names: readonly Name[],
  { signal, folder = join(root, 'node_modules/.cache/built') }: { signal?: AbortSignal; folder?: string } = {},
): Promise<ReadonlyMap<Name, string>> {
  const shared = await hashOf(root, ['pnpm-lock.yaml', 'tsconfig.json', 'packages/*/{package.json,src/**/*.{ts,js}}']);
  const builds = await Promise.all(
    names.map(async (name) => {
      const own = await hashOf(dirname(entryOf(name)), ['**/*.{ts,js}']);
      const version = createHash('sha256').update(`${process.version} ${shared} ${own}`).digest('hex').slice(0, 16);
      return { name, path: join(folder, version, name) };
    }),
  );
  const missing = builds.filter(({ path }) => !existsSync(path));
  if (missing.length > 0) await buildAll(missing, folder, signal);
  const programs = new Map(builds.map(({ name, path }) => [name, join(path, 'main.js')]));
  await keepBuilds(programs);
  if (missing.length > 0) await removeOldBuilds(folder);
  return programs;
}

/** Keeps the builds of programs for another week. Call it once a day while they run: a service starts its picture program again and again. */
export async function keepBuilds(programs: ReadonlyMap<string, string>): Promise<void> {
  const now = new Date();
  await Promise.all([...programs.values()].map((main) => utimes(join(main, '../..'), now, now)));
}

async function buildAll(
  builds: readonly { readonly name: string; readonly path: string }[],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  // As deep as `path`, because builds contain relative paths of packages.
  await using unfinished = await mkdtempDisposable(join(folder, 'unfinished-'));
  // The bundler keeps half a gigabyte, so it has its own process.
  const builder = join(import.meta.dirname, 'build.ts');
  await run(process.execPath, [builder, unfinished.path, ...builds.map(({ name }) => name)], { signal });
  for (const { name, path } of builds) {
    await mkdir(join(path, '..'), { recursive: true });
    // Another process may have built the same meanwhile.
    await rename(join(unfinished.path, name), path).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
  }
}

async function removeOldBuilds(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > weekMs) await rm(path, { recursive: true, force: true });
  }
}

/** A hash of the names and contents of source files below `folder`, without those of tests. */
export async function hashOf(folder: string, patterns: readonly string[]): Promise<string> {
  const files: string[] = [];
  for (const pattern of patterns) for await (const file of glob(pattern, { cwd: folder })) files.push(file);
  const sources = files.filter((file) => !/\.(test|fixture)\.ts$/.test(file)).sort();
  const contents = await Promise.all(sources.map((file) => readFile(join(folder, file))));
  const hash = createHash('sha256');
  for (const [n, file] of sources.entries()) hash.update(`${file}\n`).update(contents[n] ?? '');
  return hash.digest('hex');
}
