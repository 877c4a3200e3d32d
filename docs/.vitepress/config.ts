import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';

const docs = resolve(import.meta.dirname, '..');
const project = resolve(docs, '..');
const sections = ['start', 'host', 'integrate', 'reference', 'why'] as const;

// Where files outside docs/ can be read, such as https://git.example/echodrop/blob/v0.1.0. Without it, links to them become text.
const source = process.env['DOCS_SOURCE']?.replace(/\/$/, '');

/** The title of a page. */
function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(docs, page), 'utf8'))?.[1] ?? page;
}

/** A section of the sidebar: the pages that its README links, in that order, except those of other sections. */
function sectionOf(folder: string): DefaultTheme.SidebarItem {
  const readme = readFileSync(join(docs, folder, 'README.md'), 'utf8');
  const pages = new Set<string>();
  for (const [, path = ''] of readme.matchAll(/\]\(([\w./-]+\.md)\)/g)) {
    const page = relative(docs, resolve(docs, folder, path));
    const isOther = page.startsWith('..') || sections.some((other) => other !== folder && page.startsWith(`${other}/`));
    if (!isOther) pages.add(page);
  }
  return {
    text: titleOf(`${folder}/README.md`),
    link: `/${folder}/`,
    collapsed: false,
    items: [...pages].map((page) => ({ text: titleOf(page), link: `/${page.replace(/(README)?\.md$/, '')}` })),
  };
}

/** Where a link leads on the site: to a folder in place of its README, or to the source. Undefined without a source. */
function addressOf(href: string, page: string): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const target = resolve(docs, page, '..', href);
  if (!relative(docs, target).startsWith('..')) return href.replace(/README\.md(?=#|$)/, 'index.md');
  return source && `${source}/${relative(project, target)}`;
}

/** Adapts links to the site. What would lead nowhere becomes text. */
const adaptLinks: NonNullable<MarkdownOptions['config']> = (markdown) => {
  markdown.core.ruler.push('adapt-links', ({ tokens, env }) => {
    let isText = false;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_close' && isText) token.tag = 'span';
      if (token.type !== 'link_open') continue;
      const address = addressOf(token.attrGet('href') ?? '', env.relativePath);
      isText = address === undefined;
      if (address !== undefined) token.attrSet('href', address);
      else Object.assign(token, { type: 'span_open', tag: 'span', attrs: [] });
    }
  });
};

/** Anchors as on forges. */
function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

/** Leaves out the lines that mark generated blocks, which would be text: `html` is off. */
const hideMarks: NonNullable<MarkdownOptions['config']> = (markdown) => {
  markdown.core.ruler.after('normalize', 'hide-marks', (state) => {
    state.src = state.src.replaceAll(/^<!-- .* -->$/gm, '');
  });
};

export default defineConfig({
  title: 'Echodrop',
  description: 'Self-hosted photo and video uploads',
  outDir: join(project, 'dist/docs'),
  cacheDir: join(project, 'node_modules/.cache/vitepress'),
  cleanUrls: true,
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  // Pages are plain Markdown: <id> is a placeholder, not an element.
  markdown: {
    html: false,
    anchor: { slugify },
    config: (markdown) => {
      adaptLinks(markdown);
      hideMarks(markdown);
    },
  },
  themeConfig: {
    nav: sections.map((folder) => ({ text: titleOf(`${folder}/README.md`), link: `/${folder}/` })),
    sidebar: sections.map(sectionOf),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // People search for tasks; decisions would crowd them out.
        _render: (text, env, markdown) => (env.relativePath.startsWith('decisions/') ? '' : markdown.render(text, env)),
        miniSearch: {
          // `titles` are the headings above a section, `[]` for the start of a page.
          searchOptions: {
            boost: { title: 6, titles: 3, text: 1 },
            boostDocument: (id: string, _term: string, section?: { titles?: string[] }) =>
              (id.startsWith('/why/') ? 0.3 : 1) * (section?.titles?.length ? 1 : 1.5),
          },
          // A plural is found as its singular.
          options: {
            processTerm: (term) =>
              term
                .toLowerCase()
                .replace(/ies$/, 'y')
                .replace(/(?<=[a-z]{3}[^s])s$/, ''),
          },
        },
      },
    },
  },
});
