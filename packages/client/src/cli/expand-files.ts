import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from './command-context.ts';

/** A file to upload, under the name that the user gave; `path` is undefined for standard input. */
export interface NamedFile {
  readonly name: string;
  readonly path: string | undefined;
}

/**
 * The files that the arguments name. A shell expands patterns; where it did not (Windows, quotes), `*` and `?` in the last part of a path that does
 * not exist are expanded here. A file that does not exist stays, so that its upload fails with the system's error.
 * @throws UsageError if standard input is named twice or a name is empty
 */
export async function expandFiles(args: readonly string[], cwd: string): Promise<readonly NamedFile[]> {
  if (args.filter((arg) => arg === '-').length > 1) throw new UsageError('Standard input (-) can be read only once.');
  if (args.includes('')) throw new UsageError('A file name is empty.');
  const found = await Promise.all(args.map((arg) => expand(arg, cwd)));
  return found.flat();
}

async function expand(name: string, cwd: string): Promise<readonly NamedFile[]> {
  if (name === '-') return [{ name: 'standard input', path: undefined }];
  const path = resolve(cwd, name);
  const pattern = basename(path);
  if (!/[*?]/.test(pattern) || (await exists(path))) return [{ name, path }];
  const folder = dirname(path);
  const isMatch = patternOf(pattern);
  const files = (await readdir(folder).catch(() => []))
    .filter((entry) => isMatch.test(entry) && (pattern.startsWith('.') || !entry.startsWith('.')))
    .sort();
  if (files.length === 0) return [{ name, path }];
  return files.map((file) => ({ name: join(dirname(name), file), path: join(folder, file) }));
}

function patternOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
