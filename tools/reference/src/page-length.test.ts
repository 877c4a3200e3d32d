import { glob, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');

test('pages have at most 2,000 words, README at most 700', async () => {
  const tooLong = [];
  for await (const page of glob(['README.md', 'docs/**/*.md'], { cwd: root })) {
    const words = (await readFile(resolve(root, page), 'utf8')).split(/\s+/).length;
    if (words > (page === 'README.md' ? 700 : 2000)) tooLong.push(`${page}: ${words}`);
  }
  expect(tooLong).toEqual([]);
});
