import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { visible } from '../visible-text.ts';
import { UsageError } from './command-context.ts';

/** A file to upload, under the name that the user gave; `path` is undefined for standard input. */
export interface NamedFile {
  readonly name: string;
  readonly path: string | undefined;
}

/**
 * The files that the arguments name. A shell expands patterns; where it did not (Windows, quotes), `*` and `?` in the last part of a path that does
 * not exist are expanded here. A file that does not exist stays, so that its upload fails with the system's error.
 * @throws UsageError if standard input is named twice, a name is empty, or a folder that does not exist contains `*` or `?`
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
  if (!/[*?]/.test(path) || (await exists(path))) return [{ name, path }];
  const folder = dirname(path);
  const entries = await readdir(folder).catch(() => []);
  if (/[*?]/.test(folder) && !(await exists(folder)))
    throw new UsageError(
      `Only the last part of a pattern can contain * and ?: ${visible(name)}. Let your shell expand it.`,
    );
  const files = entries
    .filter((entry) => isMatch([...pattern], [...entry]) && (pattern.startsWith('.') || !entry.startsWith('.')))
    .sort();
  if (files.length === 0) return [{ name, path }];
  return files.map((file) => ({ name: join(dirname(name), file), path: join(folder, file) }));
}

// Only the last star is tried at several places, so a name that does not match takes no exponential time, as it can in a regular expression.
function isMatch(pattern: readonly string[], name: readonly string[]): boolean {
  let at = 0;
  let lastStar = -1;
  let starEnd = 0;
  for (let n = 0; n < name.length; ) {
    if (pattern[at] === '*') {
      lastStar = at++;
      starEnd = n;
    } else if (pattern[at] === '?' || pattern[at] === name[n]) {
      at += 1;
      n += 1;
    } else if (lastStar >= 0) {
      at = lastStar + 1;
      n = ++starEnd;
    } else return false;
  }
  return pattern.slice(at).every((char) => char === '*');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
