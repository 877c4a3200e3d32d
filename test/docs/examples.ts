import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '../../docs');

export interface Example {
  readonly language: string;
  readonly code: string;
}

/** The code blocks of a page (`start/mastodon`) in the order of the page, with the addresses of `replacements`. */
export async function examplesOf(page: string, replacements: Record<string, string> = {}): Promise<Example[]> {
  let text = await readFile(join(docs, `${page}.md`), 'utf8');
  for (const [documented, actual] of Object.entries(replacements)) text = text.replaceAll(documented, actual);
  return [...text.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, language = '', code = '']) => ({
    language,
    code: code.replaceAll(/^ {3}/gm, ''),
  }));
}
