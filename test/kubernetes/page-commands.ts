import { join } from 'node:path';
import { execa } from 'execa';
import { root } from '../containers/compose-system.ts';
import { examplesOf } from '../docs/examples.ts';
import type { Cluster } from './cluster.ts';

/** Where the pages keep files, by the names in their commands. */
export function placesIn(folder: string) {
  return {
    '/secure/echodrop': join(folder, 'secrets'),
    '/secure/copy': join(folder, 'copy'),
    'deploy/kubernetes/overlays/mine': join(folder, 'mine'),
  };
}

/** Runs the block of shell commands of a page that contains `word`. @returns its output @throws Error unless there is one such block */
export type RunBlock = (word: string, replacements?: Readonly<Record<string, string>>) => Promise<string>;

/** The commands of a page of docs/, with these replacements. */
export async function commandsOf(
  page: string,
  { env }: Pick<Cluster, 'env'>,
  replacements: Record<string, string> = {},
): Promise<RunBlock> {
  const examples = await examplesOf(page, replacements);
  const blocks = examples.filter(({ language }) => language === 'sh').map(({ code }) => code);
  return async (word, changes = {}) => {
    const [block, ...others] = blocks.filter((code) => code.includes(word));
    if (block === undefined || others.length > 0) throw new Error(`docs/${page}.md has not one block with ${word}`);
    const code = Object.entries(changes).reduce((text, [from, to]) => text.replaceAll(from, to), block);
    return (await execa('bash', ['-ec', code], { cwd: root, env, timeout: 15 * 60_000 })).stdout;
  };
}
