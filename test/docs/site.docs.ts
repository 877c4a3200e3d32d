import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const site = join(root, 'dist/docs');

test('every link of the built site leads to a page, and to a heading of it', async () => {
  await execa('vitepress', ['build', 'docs'], {
    cwd: root,
    preferLocal: true,
    env: { DOCS_SOURCE: 'https://git.example' },
  });
  const pages = new Map<string, string>();
  for await (const file of glob('**/*.html', { cwd: site }))
    pages.set(
      `/${file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`,
      await readFile(join(site, file), 'utf8'),
    );
  const dead = [];
  for (const [page, text] of pages) {
    for (const [, href = ''] of text.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
      if (/^(https?|mailto):/.test(href)) continue;
      const [path = '', anchor] = href.split('#');
      const target = path === '' ? page : new URL(path, `http://site${page}`).pathname;
      const found = pages.get(target);
      if (found === undefined || (anchor && !found.includes(`id="${decodeURIComponent(anchor)}"`)))
        dead.push(`${page}: ${href}`);
    }
  }
  expect(pages.size).toBeGreaterThan(60);
  expect(dead).toEqual([]);
});
