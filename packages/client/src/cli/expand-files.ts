import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** A file to upload, under the name that the user gave; `path` is undefined for standard input. */
export interface NamedFile {
  readonly name: string;
  readonly path: string | undefined;
}

/**
 * The files that the arguments name. A shell expands patterns; where it did not (Windows, quotes), `*` and `?` in the last part of a path that does
 * not exist are expanded here. A file that does not exist stays, so that its upload fails with the system's error.
 */
export async function expandFiles(args: readonly string[], cwd: string): Promise<readonly NamedFile[]> {
  const found = await Promise.all(args.map((arg) => expand(arg, cwd)));
  return found.flat();
}

async function expand(name: string, cwd: string): Promise<readonly NamedFile[]> {
  if (name === '-') return [{ name: 'standard input', path: undefined }];
  const path = resolve(cwd, name);
  const pattern = basename(path);
  if (!/[*?]/.test(pattern) || (await exists(path))) return [{ name, path }];
  const matches = patternOf(pattern);
  const entries = await readdir(dirname(path)).catch(() => []);
  const files = entries
    .filter((entry) => matches.test(entry) && (pattern.startsWith('.') || !entry.startsWith('.')))
    .sort();
  if (files.length === 0) return [{ name, path }];
  return files.map((file) => ({ name: join(dirname(name), file), path: join(dirname(path), file) }));
}

function patternOf(pattern: string): RegExp {
  const source = pattern.replace(/[\\^$.*+?()[\]{}|]/g, (char) => ({ '*': '.*', '?': '.' })[char] ?? `\\${char}`);
  return new RegExp(`^${source.replace(/(\.\*)+/g, '.*')}$`, 's');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
