import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { execa } from 'execa';

const docs = join(import.meta.dirname, '../../docs');

export interface Example {
  readonly language: string;
  readonly code: string;
}

/** The code blocks of a page (`start/mastodon`) in the order of the page, with the addresses of `replacements`. */
export async function examplesOf(page: string, replacements: Record<string, string> = {}): Promise<Example[]> {
  let text = await readFile(join(docs, `${page}.md`), 'utf8');
  for (const [documented, actual] of Object.entries(replacements)) text = text.replaceAll(documented, actual);
  return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', language = '', code = '']) => ({
    language,
    code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

/** The environment after shell commands, which read `input`. @throws Error if one fails */
export async function environmentAfter(
  commands: readonly string[],
  { env = {}, cwd, input = '' }: { env?: Record<string, string>; cwd?: string; input?: string } = {},
): Promise<{ printed: string; env: Record<string, string> }> {
  const script = ['set -e', ...commands, "printf '\\0'; env -0"].join('\n');
  const { stdout } = await execa('bash', ['-c', script], { env, input, ...(cwd && { cwd }), timeout: patienceMs });
  const [printed = '', ...variables] = stdout.split('\0');
  const entries = variables.filter(Boolean).map((line) => line.split(/=(.*)/s).slice(0, 2));
  return { printed, env: Object.fromEntries(entries) };
}
