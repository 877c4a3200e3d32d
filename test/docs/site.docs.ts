import { glob, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import config from '../../docs/.vitepress/config.ts';

const root = join(import.meta.dirname, '../..');
const site = join(root, 'dist/docs');

beforeAll(() => execa('npm', ['run', 'docs'], { cwd: root, env: { DOCS_SOURCE: 'https://git.example' } }));

test('every link of the built site leads to a page, and to a heading of it', async () => {
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

/** Searches as the page does, with its index and the site's options. @returns the pages found, best first */
async function searchSite(): Promise<(query: string) => string[]> {
  const MiniSearch = createRequire(createRequire(import.meta.url).resolve('vitepress'))('minisearch');
  const [index] = await Array.fromAsync(glob('assets/chunks/@localSearchIndexroot*.js', { cwd: site }));
  const { default: json } = await import(join(site, index ?? expect.fail('no index')));
  const { search } = config.themeConfig ?? {};
  const own = search?.provider === 'local' ? search.options?.miniSearch : undefined;
  const searchOptions = { fuzzy: 0.2, prefix: true, ...own?.searchOptions };
  const fields = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] };
  const miniSearch = MiniSearch.loadJSON(json, { ...fields, searchOptions, ...own?.options });
  return (query) => miniSearch.search(query).map(({ id }: { id: string }) => id);
}

test('a search finds the page for the task first', async () => {
  const search = await searchSite();
  const expected = {
    certificate: '/host/compose#5-',
    backup: '/host/backup#',
    restore: '/host/backup#restore',
    token: '/integrate/credentials#bearer-tokens',
    'rotate secret': '/host/secrets#rotate-secrets',
    'api key': '/integrate/credentials#api-key',
    moderation: '/host/moderation#moderation',
    upgrade: '/host/upgrade#',
    mastodon: '/start/mastodon#mastodon',
    keycloak: '/start/openid-connect#',
    embed: '/integrate/embeds#',
    retry: '/integrate/retries#',
  };
  const found = Object.keys(expected).map((query) => [query, search(query)[0]]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(expected).map(([query, id]) => [query, expect.stringMatching(`^${id}`)])),
  );
});
