import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorTable } from './errors.ts';
import { settingTables } from './settings.ts';

type Blocks = Readonly<Record<string, string>>;

const docs = join(import.meta.dirname, '../../../docs');

/** The pages below docs/ with generated blocks, and the content of each block. */
const blocksOfPages: Readonly<Record<string, Blocks>> = {
  'reference/settings.md': settingTables(),
  'reference/errors.md': { errors: errorTable() },
};

/** Reads each page with generated blocks: its content now, and with current blocks. */
export function readPages() {
  return Promise.all(
    Object.entries(blocksOfPages).map(async ([name, blocks]) => {
      const path = join(docs, name);
      const content = await readFile(path, 'utf8');
      return { name, path, content, current: fillBlocks(name, content, blocks) };
    }),
  );
}

/** Replaces the blocks of a page. @throws Error if the page lacks a block, or has one that is not in `blocks` */
export function fillBlocks(name: string, page: string, blocks: Blocks): string {
  const missing = new Set(Object.keys(blocks));
  const filled = page.replace(/(<!-- generated: ([^\n]+) -->\n).*?(<!-- end -->)/gs, (_, begin, block, end) => {
    const content = blocks[block];
    if (content === undefined) throw new Error(`docs/${name} has an unknown block "${block}". Remove it.`);
    missing.delete(block);
    return `${begin}\n${content}\n\n${end}`;
  });
  const [first] = missing;
  if (first !== undefined)
    throw new Error(`docs/${name} lacks a block. Add "<!-- generated: ${first} -->" and "<!-- end -->".`);
  return filled;
}
